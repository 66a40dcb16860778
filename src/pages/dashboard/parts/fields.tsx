import type { JSX, Ref } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { CopyButton } from '../../ui/controls/copy-button.js'
import { Field } from '../../ui/controls/field.js'
import { TextField } from '../../ui/controls/form.js'
import { Notice } from '../../ui/messages/notice.js'

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

interface Typed {
  readonly value: string
  readonly onInput: (text: string) => void
}

/** The text for a refused second factor. */
export function factorFault(code: string | undefined): string | undefined {
  return code && words.fault(code === 'account_locked' ? 'factor_locked' : code)
}

/** A field for a recovery code, and for a code of the authenticator app when there is one. */
export function FactorField({
  app,
  hint,
  ...field
}: Typed & {
  readonly app: boolean
  readonly hint?: string | undefined
  readonly fault?: string | undefined
}): JSX.Element {
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

/** The creator's display name, with the API's length limits. */
export function NameField(field: Typed): JSX.Element {
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
export function SignatureField({
  advice,
  message,
  ...field
}: Typed & { readonly advice: string; readonly message: string }): JSX.Element {
  return (
    <>
      <Notice tone="plain" icon="warn" urgent>
        {advice}
      </Notice>
      <code class="secret">{message}</code>
      <CopyButton value={message} label={words.sol.message} />
      <TextField label={words.sol.signature} required spellcheck={false} {...field} />
    </>
  )
}
