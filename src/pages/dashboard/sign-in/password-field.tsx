import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { TextField } from '../../ui/fields.js'
import { TextButton } from '../../ui/kit.js'
import { passwordStrength } from './password-strength.js'

const tones = { short: 'warn', weak: 'warn', fair: 'plain', strong: 'good' } as const
export const passwordFaults = ['invalid_password', 'common_password']

interface Shared {
  readonly label?: string
  readonly value: string
  readonly fault?: string | undefined
  readonly onInput: (value: string) => void
}

export function EmailField(field: Omit<Shared, 'label'> & { readonly readOnly?: boolean }) {
  return (
    <TextField
      label={words.signIn.email}
      type="email"
      name="email"
      autocomplete="username"
      required
      {...field}
    />
  )
}

export function PasswordField(field: Shared) {
  return <Password {...field} name="password" autocomplete="current-password" />
}

interface NewPasswordFieldProps extends Shared {
  name?: string
  /** A password like the address is weak. */
  email: string
}

export function NewPasswordField({ email, ...field }: NewPasswordFieldProps) {
  const strength = field.value === '' ? undefined : passwordStrength(field.value, email)
  return (
    // No longest length: browsers would cut a pasted password without a word.
    <Password
      name="password"
      hint={words.register.passwordHint}
      autocomplete="new-password"
      minLength={8}
      {...field}
    >
      <p role="status">
        {strength && (
          <span class={`status status--${tones[strength]}`}>{words.password.strength[strength]}</span>
        )}
      </p>
    </Password>
  )
}

interface PasswordProps extends Shared {
  name: string
  hint?: string
  autocomplete: 'current-password' | 'new-password'
  minLength?: number
  children?: JSX.Element
}

function Password({ label = words.signIn.password, children, ...field }: PasswordProps) {
  const [seen, setSeen] = useState(false)
  return (
    <div>
      <TextField label={label} required type={seen ? 'text' : 'password'} {...field} />
      <div class="row">
        {children}
        <TextButton
          class="password__show"
          aria-pressed={seen}
          text={seen ? words.signIn.hide : words.signIn.show}
          onPress={() => setSeen(!seen)}
        />
      </div>
    </div>
  )
}
