import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { Button } from '../../ui/buttons.js'
import { Form } from '../../ui/fields.js'
import { Notice } from '../../ui/messages.js'
import { call } from '../api.js'
import { CodeField } from '../parts/fields.js'
import { Submit } from '../parts/forms.js'
import { TextButton } from '../parts/links.js'
import { FaultNotice } from '../parts/notices.js'
import { useSubmit } from '../requests.js'
import { PasskeyButton, useAttempt } from './factor-step.js'
import { EmailField, PasswordField } from './password-field.js'

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
    <Form
      onSubmit={() => {
        send.clear()
        logIn.run()
      }}
    >
      <EmailField value={email} readOnly={known !== undefined} onInput={setEmail} />
      <PasswordField value={password} fault={fault && words.fault(fault)} onInput={setPassword} />
      <Submit text={words.signIn.submit} busy={logIn.busy} />
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
      {onForgot && <TextButton onPress={onForgot}>{words.signIn.forgot}</TextButton>}
    </Form>
  )
}

/** The form for the one-time code. It submits itself when all six digits are typed. */
export function CodeForm({
  email,
  submit = words.code.submit,
  onSignedIn,
  onOtherWay,
}: {
  readonly email: string
  readonly submit?: string
  readonly onSignedIn: () => void
  /** Undefined: there is no other way to sign in here. */
  readonly onOtherWay?: () => void
}): JSX.Element {
  const [code, setCode] = useState('')
  const [sentAgain, setSentAgain] = useState(false)
  const attempt = useAttempt({ byMail: true, email, onSignedIn })
  const verify = useSubmit(() =>
    attempt.run((factor) => call('POST', '/auth/otp/verify', { body: { email, code, ...factor } })),
  )
  const again = useSubmit(async () => {
    await call('POST', '/auth/otp/start', { body: { email } })
    setSentAgain(true)
  })
  if (attempt.step !== undefined) return attempt.step
  const fault = verify.fault ?? again.fault
  const mailed =
    again.fault === 'account_locked' ? 'linkMailed' : sentAgain ? ('sentAgain' as const) : ('sent' as const)
  return (
    <Form onSubmit={verify.run}>
      <Notice tone="plain" icon="mail">
        {words.code[mailed](email)}
      </Notice>
      <CodeField
        label={words.code.label}
        value={code}
        fault={fault && words.fault(fault)}
        onInput={setCode}
        onComplete={verify.run}
      />
      <Submit text={submit} busy={verify.busy} />
      <div class="row">
        <TextButton onPress={again.run}>{words.code.again}</TextButton>
        {onOtherWay && <TextButton onPress={onOtherWay}>{words.code.otherWay}</TextButton>}
      </div>
    </Form>
  )
}

/** The token of a mailed link, in the fragment of the page's address. */
export function linkToken(): string | undefined {
  return /^#sign-in=([\w-]+)$/.exec(location.hash)?.[1]
}

/** Signs in with a mailed link, by a button: mail scanners open links, and a link works once. */
export function LinkSignIn({
  token,
  onSignedIn,
  onOtherWay,
}: {
  readonly token: string
  readonly onSignedIn: () => void
  readonly onOtherWay: () => void
}): JSX.Element {
  const attempt = useAttempt({ byMail: true, email: undefined, onSignedIn })
  const logIn = useSubmit(() =>
    attempt.run((factor) => call('POST', '/auth/otp/link', { body: { token, ...factor } })),
  )
  // The browser's history must not keep the token.
  useEffect(() => history.replaceState(undefined, '', location.pathname), [])
  if (attempt.step !== undefined) return attempt.step
  if (logIn.fault === 'invalid_link')
    return (
      <div class="stack">
        <Notice tone="warn" icon="warn" urgent title={words.fault(logIn.fault)}>
          {words.signIn.newLinkHow}
        </Notice>
        <Button kind="primary" onPress={onOtherWay}>
          {words.signIn.newLink}
        </Button>
      </div>
    )
  return (
    <Form onSubmit={logIn.run}>
      <Submit text={words.signIn.submit} busy={logIn.busy} />
      <FaultNotice fault={logIn.fault} />
      <TextButton onPress={onOtherWay}>{words.signIn.withoutLink}</TextButton>
    </Form>
  )
}
