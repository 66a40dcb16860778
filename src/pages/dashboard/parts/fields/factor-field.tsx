import type { JSX } from 'preact'
import { words } from '../../../i18n/dashboard.js'
import { Field } from '../../../ui/controls/field.js'

/** A field for a recovery code, and for a code of the authenticator app when there is one. */
export function FactorField({
  app,
  hint,
  value,
  fault,
  onInput,
}: {
  readonly app: boolean
  readonly hint?: string | undefined
  readonly value: string
  readonly fault?: string | undefined
  readonly onInput: (text: string) => void
}): JSX.Element {
  return (
    <Field
      label={app ? words.factor.either : words.factor.recovery}
      hint={hint ?? (app ? undefined : words.factor.recoveryHint)}
      fault={fault}
    >
      <input
        class="input"
        name="factor"
        autocomplete="one-time-code"
        autocapitalize="none"
        spellcheck={false}
        required
        value={value}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
      />
    </Field>
  )
}
