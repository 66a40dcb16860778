import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { Button } from '../../ui/button.js'
import { Field } from '../../ui/field.js'
import { Notice } from '../../ui/notice.js'
import { call } from '../api.js'
import { useSubmit } from '../use-submit.js'
import { PasswordField } from './password-field.js'

/** A new account, which is signed in at once. */
export function Register({ onEntered }: { readonly onEntered: () => void }): JSX.Element {
  const [name, setName] = useState('')
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const register = useSubmit(async () => {
    await call('POST', '/auth/register', { body: { name, email, password } })
    onEntered()
  })
  const { fault } = register
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault()
        register.run()
      }}
    >
      <Field label={words.register.name} hint={words.register.nameHint}>
        <input
          class="input"
          name="name"
          autocomplete="name"
          required
          minLength={2}
          maxLength={100}
          value={name}
          onInput={({ currentTarget }) => setName(currentTarget.value)}
        />
      </Field>
      <Field label={words.signIn.email}>
        <input
          class="input"
          type="email"
          name="email"
          autocomplete="username"
          required
          value={email}
          onInput={({ currentTarget }) => setEmail(currentTarget.value)}
        />
      </Field>
      <PasswordField fresh value={password} onInput={setPassword} />
      {fault !== undefined && (
        <Notice tone="bad" icon="warn" urgent>
          {words.fault(fault)}
        </Notice>
      )}
      <Button kind="primary" type="submit" busy={register.busy}>
        {words.register.submit}
      </Button>
    </form>
  )
}
