import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { Button } from '../../ui/button.js'
import { call } from '../api.js'
import { useSubmit } from '../use-submit.js'
import { CodeForm } from './code-form.js'
import { EmailField } from './email-field.js'
import { PasswordField } from './password-field.js'

/** By password or by a code sent to the e-mail address. `email`: somebody who was signed in and only has to show it. */
export function SignIn({
  email: known,
  onEntered,
}: {
  readonly email?: string
  readonly onEntered: () => void
}): JSX.Element {
  const [email, setEmail] = useState(known ?? '')
  const [password, setPassword] = useState('')
  const [codeSent, setCodeSent] = useState(false)
  const enter = useSubmit(async () => {
    await call('POST', '/auth/login', { body: { email, password } })
    onEntered()
  })
  const send = useSubmit(async () => {
    await call('POST', '/auth/otp/start', { body: { email } })
    setCodeSent(true)
  })
  if (codeSent) return <CodeForm email={email} onEntered={onEntered} onOtherWay={() => setCodeSent(false)} />
  const fault = enter.fault ?? send.fault
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault()
        send.clear()
        enter.run()
      }}
    >
      <EmailField value={email} readOnly={known !== undefined} onInput={setEmail} />
      <PasswordField
        fresh={false}
        value={password}
        fault={fault && words.fault(fault)}
        onInput={setPassword}
      />
      <Button kind="primary" type="submit" busy={enter.busy}>
        {words.signIn.submit}
      </Button>
      <Button
        busy={send.busy}
        onPress={() => {
          enter.clear()
          if (email.includes('@')) send.run()
          else enter.fail('email_required')
        }}
      >
        {words.signIn.mailCode}
      </Button>
    </form>
  )
}
