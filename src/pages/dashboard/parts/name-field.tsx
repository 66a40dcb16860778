import type { JSX } from 'preact'
import { words } from '../../i18n/dashboard.js'
import { Field } from '../../ui/field.js'

/** The name a creator is shown by. Its bounds are the service's. */
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
