import type { JSX } from 'preact'
import { words } from '../../i18n/dashboard.js'
import { Field } from '../../ui/controls/field.js'

/** The e-mail address of the account. */
export function EmailField({
  value,
  readOnly = false,
  onInput,
}: {
  readonly value: string
  /** The address of an account that is already known. */
  readonly readOnly?: boolean
  readonly onInput: (value: string) => void
}): JSX.Element {
  return (
    <Field label={words.signIn.email}>
      <input
        class="input"
        type="email"
        name="email"
        autocomplete="username"
        required
        readOnly={readOnly}
        value={value}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
      />
    </Field>
  )
}
