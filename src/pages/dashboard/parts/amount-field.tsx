import type { JSX } from 'preact'
import { words } from '../../i18n/dashboard.js'
import { TextField } from '../../ui/controls/form.js'

/** A large field for an amount, with a button that fills in the most there is. */
export function AmountField({
  most,
  ...field
}: {
  readonly label: string
  readonly fault: string | undefined
  readonly value: string
  /** Undefined: not known, or nothing. */
  readonly most: string | undefined
  readonly onInput: (text: string) => void
}): JSX.Element {
  return (
    <div class="amount">
      <TextField class="amount__input number" name="amount" inputMode="decimal" {...field} />
      <button
        type="button"
        class="copy amount__max"
        disabled={most === undefined}
        onClick={() => most !== undefined && field.onInput(most)}
      >
        {words.withdraw.max}
      </button>
    </div>
  )
}
