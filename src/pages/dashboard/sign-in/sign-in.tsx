import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { Button } from '../../ui/controls/button.js'
import { call } from '../api.js'
import { useSubmit } from '../use-submit.js'
import { CodeForm } from './code-form.js'
import { EmailField } from './email-field.js'
import { PasswordField } from './password-field.js'

/** Signs in by password or by a one-time code. `email`: the account whose session has ended. */
export function SignIn({
  email: known,
  onSignedIn,
}: {
  readonly email?: string
  readonly onSignedIn: () => void
}): JSX.Element {
  const [email, setEmail] = useState(known ?? '')
  const [password, setPassword] = useState('')
  const [codeSent, setCodeSent] = useState(false)
  const logIn = useSubmit(async () => {
    await call('POST', '/auth/login', { body: { email, password } })
    onSignedIn()
  })
  const send = useSubmit(async () => {
    await call('POST', '/auth/otp/start', { body: { email } })
    setCodeSent(true)
  })
  if (codeSent)
    return <CodeForm email={email} onSignedIn={onSignedIn} onOtherWay={() => setCodeSent(false)} />
  const fault = logIn.fault ?? send.fault
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault()
        send.clear()
        logIn.run()
      }}
    >
      <EmailField value={email} readOnly={known !== undefined} onInput={setEmail} />
      <PasswordField
        isNew={false}
        value={password}
        fault={fault && words.fault(fault)}
        onInput={setPassword}
      />
      <Button kind="primary" type="submit" busy={logIn.busy}>
        {words.signIn.submit}
      </Button>
      <Button
        busy={send.busy}
        onPress={() => {
          logIn.clear()
          if (email.includes('@')) send.run()
          else logIn.fail('email_required')
        }}
      >
        {words.signIn.mailCode}
      </Button>
    </form>
  )
}
