import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { Button } from '../../ui/controls/button.js'
import { call } from '../api.js'
import { useSubmit } from '../use-submit.js'
import { useAttempt } from './attempt.js'
import { CodeForm } from './code-form.js'
import { EmailField } from './email-field.js'
import { PasskeyButton } from './passkey-button.js'
import { PasswordField } from './password-field.js'

/** Signs in by password, by a one-time code or by a passkey. `email`: the account whose page this is. */
export function SignIn({
  email: known,
  onSignedIn,
  onForgot,
}: {
  readonly email?: string
  readonly onSignedIn: () => void
  /** Undefined: a new password can't be set from here. */
  readonly onForgot?: () => void
}): JSX.Element {
  const [email, setEmail] = useState(known ?? '')
  const [password, setPassword] = useState('')
  const [codeSent, setCodeSent] = useState(false)
  const attempt = useAttempt({ email: known, onSignedIn })
  const logIn = useSubmit(() =>
    attempt.run((factor) => call('POST', '/auth/login', { body: { email, password, ...factor } })),
  )
  const send = useSubmit(async () => {
    await call('POST', '/auth/otp/start', { body: { email } })
    setCodeSent(true)
  })
  if (attempt.step !== undefined) return attempt.step
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
      <PasswordField value={password} fault={fault && words.fault(fault)} onInput={setPassword} />
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
      <PasskeyButton label={words.signIn.passkey} email={known} onSignedIn={onSignedIn} />
      {onForgot !== undefined && (
        <button type="button" class="link" onClick={onForgot}>
          {words.signIn.forgot}
        </button>
      )}
    </form>
  )
}
