import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { Button } from '../../ui/controls/button.js'
import { call } from '../api.js'
import { FaultNotice } from '../parts/fault-notice.js'
import { NameField } from '../parts/name-field.js'
import { useSubmit } from '../use-submit.js'
import { EmailField } from './email-field.js'
import { PasswordField } from './password-field.js'

/** Creates an account, which is then signed in. */
export function Register({ onSignedIn }: { readonly onSignedIn: () => void }): JSX.Element {
  const [name, setName] = useState('')
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const register = useSubmit(async () => {
    await call('POST', '/auth/register', { body: { name, email, password } })
    onSignedIn()
  })
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault()
        register.run()
      }}
    >
      <NameField value={name} onInput={setName} />
      <EmailField value={email} onInput={setEmail} />
      <PasswordField isNew value={password} onInput={setPassword} />
      <FaultNotice fault={register.fault} />
      <Button kind="primary" type="submit" busy={register.busy}>
        {words.register.submit}
      </Button>
    </form>
  )
}
