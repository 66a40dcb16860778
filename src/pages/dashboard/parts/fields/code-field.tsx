import type { JSX, Ref } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { Field } from '../../../ui/controls/field.js'

const codeLength = 6

/** A field for six digits, typed or pasted with anything between them. */
export function CodeField({
  label,
  value,
  fault,
  focused = true,
  onInput,
  onComplete,
}: {
  readonly label: string
  readonly value: string
  readonly fault?: string | undefined
  /** Takes the focus when it appears. */
  readonly focused?: boolean
  readonly onInput: (digits: string) => void
  /** Called once for each six digits. Without it the form has a further field. */
  readonly onComplete?: () => void
}): JSX.Element {
  const input: Ref<HTMLInputElement> = useRef(null)
  useEffect(() => {
    if (focused) input.current?.focus()
  }, [focused])
  useEffect(() => {
    if (value.length === codeLength) onComplete?.()
    // Each code is submitted once.
  }, [value])
  return (
    <Field label={label} fault={fault}>
      <input
        ref={input}
        class="input code"
        name="code"
        inputMode="numeric"
        autocomplete="one-time-code"
        required
        value={value}
        onInput={({ currentTarget }) => {
          const digits = currentTarget.value.replace(/\D/g, '').slice(0, codeLength)
          currentTarget.value = digits
          onInput(digits)
        }}
      />
    </Field>
  )
}
