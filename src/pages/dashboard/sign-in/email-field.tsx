import type { JSX } from 'preact'
import { words } from '../../i18n/dashboard.js'
import { Field } from '../../ui/field.js'

/** The address an account is known by. */
export function EmailField({
  value,
  readOnly = false,
  onInput,
}: {
  readonly value: string
  /** Of somebody who is known already. */
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
