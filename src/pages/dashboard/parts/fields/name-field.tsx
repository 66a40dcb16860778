import type { JSX } from 'preact'
import { words } from '../../../i18n/dashboard.js'
import { Field } from '../../../ui/controls/field.js'

/** The creator's display name, with the API's length limits. */
export function NameField({
  value,
  onInput,
}: {
  readonly value: string
  readonly onInput: (value: string) => void
}): JSX.Element {
  return (
    <Field label={words.register.name} hint={words.register.nameHint}>
      <input
        class="input"
        name="name"
        autocomplete="name"
        required
        minLength={2}
        maxLength={100}
        value={value}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
      />
    </Field>
  )
}
