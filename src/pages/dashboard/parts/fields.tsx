import type { Ref } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { numberFault, numberText, typedNumber } from '../../lib/amount-text.js'
import { Field, TextField } from '../../ui/fields.js'
import { CopyButton, Notice } from '../../ui/kit.js'

const codeLength = 6

interface CodeFieldProps {
  label: string
  value: string
  fault?: string | undefined
  focused?: boolean
  onInput: (digits: string) => void
  /** Called once for each six digits. Without it the form has a further field. */
  onComplete?: () => void
}

/** A field for six digits, typed or pasted with anything between them. */
export function CodeField({ label, value, fault, focused = true, onInput, onComplete }: CodeFieldProps) {
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

interface Typed {
  readonly value: string
  readonly onInput: (text: string) => void
}

export function factorFault(code: string): string {
  return words.fault(code === 'account_locked' ? 'factor_locked' : code)
}

type FactorFieldProps = Typed & { app: boolean; hint?: string | undefined; fault?: string | undefined }

/** A field for a recovery code, and for a code of the authenticator app when there is one. */
export function FactorField({ app, hint, ...field }: FactorFieldProps) {
  return (
    <TextField
      label={app ? words.factor.either : words.factor.recovery}
      hint={hint ?? (app ? undefined : words.factor.recoveryHint)}
      name="factor"
      autocomplete="one-time-code"
      autocapitalize="none"
      spellcheck={false}
      required
      {...field}
    />
  )
}

export function NameField(field: Typed) {
  return (
    <TextField
      label={words.register.name}
      hint={words.register.nameHint}
      name="name"
      autocomplete="name"
      required
      minLength={2}
      maxLength={100}
      {...field}
    />
  )
}

/** A message to sign in a wallet, and the field for its signature. */
export function SignatureField({ advice, message, ...field }: Typed & { advice: string; message: string }) {
  return (
    <>
      <Notice tone="plain" icon="warn" urgent text={advice} />
      <code class="secret">{message}</code>
      <CopyButton value={message} label={words.sol.message} />
      <TextField label={words.sol.signature} required spellcheck={false} {...field} />
    </>
  )
}

interface NumberFieldProps {
  label: string
  value: number | undefined
  placeholder?: string
  onChange: (value: number | undefined) => void
}

/**
 * A number, parsed when the field loses focus. It is a text field, because browsers drop the comma in a number field: `1,5`
 * becomes 15. Invalid text shows a fault, changes no value and blocks the form. An empty field is undefined.
 */
export function NumberField({ label, value, placeholder, onChange }: NumberFieldProps) {
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

/** Keeps what is being typed until the field loses focus or Enter is pressed: a render would set its value again. */
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

interface AmountFieldProps {
  label: string
  fault: string | undefined
  value: string
  /** Undefined: not known, or nothing. */
  most: string | undefined
  onInput: (text: string) => void
}

/** A large field for an amount, with a button that fills in the most there is. */
export function AmountField({ most, ...field }: AmountFieldProps) {
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
