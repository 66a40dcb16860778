import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { isUnclear, numberText, typedNumber } from '../../lib/amount-text.js'
import { Field } from '../../ui/field.js'

/**
 * A number, read when it is left. A field of text, since browsers drop the comma from a field of numbers: `1,5` becomes 15
 * there. What cannot be read changes nothing, is told, and keeps the form from being sent. Empty is undefined.
 */
export function NumberField({
  label,
  value,
  placeholder,
  onChange,
}: {
  readonly label: string
  readonly value: number | undefined
  readonly placeholder?: string
  readonly onChange: (value: number | undefined) => void
}): JSX.Element {
  const [wrong, setWrong] = useState<string>()
  return (
    <Field label={label} fault={wrong && faultIn(wrong)}>
      <input
        class="input number"
        inputMode="decimal"
        autocomplete="off"
        placeholder={placeholder}
        value={wrong ?? (value === undefined ? '' : numberText(value))}
        // The fault stands below the field; the browser's own bubble would cover it.
        onInvalid={(event) => {
          event.preventDefault()
          event.currentTarget.focus()
        }}
        onChange={({ currentTarget }) => {
          const text = currentTarget.value.trim()
          const fault = faultIn(text)
          setWrong(fault && text)
          currentTarget.setCustomValidity(fault ?? '')
          if (fault === undefined) onChange(typedNumber(text))
        }}
      />
    </Field>
  )
}

function faultIn(text: string): string | undefined {
  if (text === '' || typedNumber(text) !== undefined) return undefined
  return words.fault(isUnclear(text) ? 'unclear_number' : 'invalid_number')
}
