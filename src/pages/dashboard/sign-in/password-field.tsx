import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { Field } from '../../ui/field.js'

/** A password that can be looked at while it is typed. */
export function PasswordField({
  fresh,
  value,
  fault,
  onInput,
}: {
  /** Of a new account. */
  readonly fresh: boolean
  readonly value: string
  readonly fault?: string | undefined
  readonly onInput: (value: string) => void
}): JSX.Element {
  const [seen, setSeen] = useState(false)
  const attributes = {
    class: 'input',
    name: 'password',
    autocomplete: fresh ? 'new-password' : 'current-password',
    ...(fresh && { minLength: 8 }),
    required: true,
    value,
    onInput: ({ currentTarget }: { currentTarget: HTMLInputElement }) => onInput(currentTarget.value),
  } as const
  return (
    <div class="password">
      <Field
        label={words.signIn.password}
        hint={fresh ? words.register.passwordHint : undefined}
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
