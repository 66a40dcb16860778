import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { Field } from '../../ui/controls/field.js'
import { passwordStrength } from './password-strength.js'

/** A field for the current password, with a button that shows it. */
export function PasswordField({
  label = words.signIn.password,
  value,
  fault,
  onInput,
}: {
  readonly label?: string
  readonly value: string
  readonly fault?: string | undefined
  readonly onInput: (value: string) => void
}): JSX.Element {
  return <Password {...{ label, value, fault, onInput }} name="password" autocomplete="current-password" />
}

/** A field for a new password. Says how strong it is. */
export function NewPasswordField({
  label = words.signIn.password,
  name = 'password',
  value,
  fault,
  email,
  onInput,
}: {
  readonly label?: string
  readonly name?: string
  readonly value: string
  readonly fault?: string | undefined
  /** A password like the address is weak. */
  readonly email: string
  readonly onInput: (value: string) => void
}): JSX.Element {
  const strength = value === '' ? undefined : passwordStrength(value, email)
  return (
    <Password
      {...{ label, name, value, fault, onInput }}
      hint={words.register.passwordHint}
      autocomplete="new-password"
    >
      <p class={`strength strength--${strength ?? 'none'}`} role="status">
        {strength !== undefined && words.password.strength[strength]}
      </p>
    </Password>
  )
}

interface Shared {
  readonly label: string
  readonly value: string
  readonly fault?: string | undefined
  readonly onInput: (value: string) => void
}

function Password({
  label,
  name,
  hint,
  autocomplete,
  value,
  fault,
  onInput,
  children,
}: Shared & {
  readonly name: string
  readonly hint?: string
  readonly autocomplete: 'current-password' | 'new-password'
  /** Stands below the field. */
  readonly children?: JSX.Element
}): JSX.Element {
  const [seen, setSeen] = useState(false)
  const attributes = {
    class: 'input',
    name,
    autocomplete,
    // No longest length: browsers would cut a pasted password without a word.
    ...(autocomplete === 'new-password' && { minLength: 8 }),
    required: true,
    value,
    onInput: ({ currentTarget }: { currentTarget: HTMLInputElement }) => onInput(currentTarget.value),
  } as const
  return (
    <div class="password">
      <Field label={label} hint={hint} fault={fault}>
        {seen ? <input {...attributes} type="text" /> : <input {...attributes} type="password" />}
      </Field>
      <div class="password__below">
        {children}
        <button type="button" class="link password__show" aria-pressed={seen} onClick={() => setSeen(!seen)}>
          {seen ? words.signIn.hide : words.signIn.show}
        </button>
      </div>
    </div>
  )
}
