import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { TextField } from '../../ui/fields.js'
import { TextButton } from '../../ui/kit.js'

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

type Strength = 'short' | 'weak' | 'fair' | 'strong'

const leastLength = 8

/**
 * A hint while a password is typed. It counts what a guess has to get right: repeated characters, runs like `1234` or `abcd` and
 * the parts of the e-mail address count little. Whether a password is a common one only the service knows.
 */
function passwordStrength(password: string, email: string): Strength {
  if ([...password].length < leastLength) return 'short'
  const bits = guessBits(withoutParts(password.toLowerCase(), email)) + mixBits(password)
  if (bits < 40) return 'weak'
  return bits < 54 ? 'fair' : 'strong'
}

function withoutParts(password: string, email: string): string {
  return email
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((part) => part.length > 2)
    .reduce((text, part) => text.replaceAll(part, 'x'), password)
}

/** About 4 bits for a character, a quarter of that for one that repeats or continues the one before. */
function guessBits(text: string): number {
  const characters = [...text].map((character) => character.codePointAt(0) ?? 0)
  const seen = new Set<number>()
  return characters.reduce((bits, code, at) => {
    const step = code - (characters[at - 1] ?? -10)
    const expected = Math.abs(step) <= 1 || seen.has(code)
    seen.add(code)
    return bits + (expected ? 1 : 4)
  }, 0)
}

function mixBits(password: string): number {
  const kinds = [/\p{Ll}/u, /\p{Lu}/u, /\p{N}/u, /[^\p{L}\p{N}]/u].filter((kind) => kind.test(password))
  return 2 * (kinds.length - 1)
}
