import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { numberFault, numberText, typedNumber } from '../../lib/amount-text.js'
import { Field } from '../../ui/controls/field.js'

/**
 * A number, parsed when the field loses focus. It is a text field, because browsers drop the comma in a number field: `1,5`
 * becomes 15. Invalid text shows a fault, changes no value and blocks the form. An empty field is undefined.
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
  const typed = useTyped(wrong ?? (value === undefined ? '' : numberText(value)), (typedText, input) => {
    const text = typedText.trim()
    const fault = textOf(numberFault(text))
    setWrong(fault && text)
    input.setCustomValidity(fault ?? '')
    if (fault === undefined) onChange(typedNumber(text))
  })
  return (
    <Field label={label} fault={wrong && textOf(numberFault(wrong))}>
      <input
        class="input number"
        inputMode="decimal"
        autocomplete="off"
        placeholder={placeholder}
        {...typed}
        // The fault is shown below the field; the browser's own message would cover it.
        onInvalid={(event) => {
          event.preventDefault()
          event.currentTarget.focus()
        }}
      />
    </Field>
  )
}

const textOf = (fault: string | undefined): string | undefined => fault && words.fault(fault)

interface Typing {
  readonly currentTarget: HTMLInputElement
}

/**
 * Keeps what is being typed until the field loses focus or Enter is pressed: each render sets a field's value again, so one for
 * another reason would take back the letters.
 */
export function useTyped(value: string, onTyped: (text: string, input: HTMLInputElement) => void) {
  const [typed, setTyped] = useState<string>()
  return {
    value: typed ?? value,
    onInput: ({ currentTarget }: Typing) => setTyped(currentTarget.value),
    onBlur: () => setTyped(undefined),
    onChange({ currentTarget }: Typing) {
      setTyped(undefined)
      onTyped(currentTarget.value, currentTarget)
    },
  }
}
