import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { Field } from '../../ui/controls/field.js'

/** A password field with a button that shows the password. */
export function PasswordField({
  isNew,
  value,
  fault,
  onInput,
}: {
  /** The password of a new account. */
  readonly isNew: boolean
  readonly value: string
  readonly fault?: string | undefined
  readonly onInput: (value: string) => void
}): JSX.Element {
  const [seen, setSeen] = useState(false)
  const attributes = {
    class: 'input',
    name: 'password',
    autocomplete: isNew ? 'new-password' : 'current-password',
    ...(isNew && { minLength: 8 }),
    required: true,
    value,
    onInput: ({ currentTarget }: { currentTarget: HTMLInputElement }) => onInput(currentTarget.value),
  } as const
  return (
    <div class="password">
      <Field
        label={words.signIn.password}
        hint={isNew ? words.register.passwordHint : undefined}
        fault={fault}
      >
        {seen ? <input {...attributes} type="text" /> : <input {...attributes} type="password" />}
      </Field>
      <button type="button" class="link password__show" aria-pressed={seen} onClick={() => setSeen(!seen)}>
        {seen ? words.signIn.hide : words.signIn.show}
      </button>
    </div>
  )
}
