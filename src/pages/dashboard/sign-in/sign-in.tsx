import { useEffect, useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { Form } from '../../ui/fields.js'
import { Button, Notice, TextButton } from '../../ui/kit.js'
import { call } from '../api.js'
import { CodeField } from '../parts/fields.js'
import { Submit } from '../parts/forms.js'
import { useForm, useSubmit } from '../requests.js'
import { PasskeyButton, useAttempt } from './factor-step.js'
import { EmailField, PasswordField } from './password-field.js'

const text = words.signIn

interface SignInProps {
  email?: string
  onSignedIn: () => void
  /** Undefined: a new password can't be set from here. */
  onForgot?: () => void
}

/** Signs in by password, by a one-time code or by a passkey. `email`: the account whose page this is. */
export function SignIn({ email: known, onSignedIn, onForgot }: SignInProps) {
  const [codeSent, setCodeSent] = useState(false)
  const attempt = useAttempt({ email: known, onSignedIn })
  const logIn = useForm({ email: known ?? '', password: '' }, (given) =>
    attempt.run((factor) => call('POST', '/auth/login', { body: { ...given, ...factor } })),
  )
  const { email } = logIn.values
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
      <EmailField readOnly={known !== undefined} {...logIn.field('email')} />
      <PasswordField {...logIn.field('password')} fault={fault && words.fault(fault)} />
      <Submit text={text.submit} busy={logIn.busy} />
      <Button
        busy={send.busy}
        text={text.mailCode}
        onPress={() => {
          logIn.clear()
          if (email.includes('@')) send.run()
          else logIn.fail('email_required')
        }}
      />
      <PasskeyButton email={known} onSignedIn={onSignedIn} />
      {onForgot && <TextButton text={text.forgot} onPress={onForgot} />}
    </Form>
  )
}

interface CodeFormProps {
  email: string
  submit?: string
  onSignedIn: () => void
  /** Undefined: there is no other way to sign in here. */
  onOtherWay?: () => void
}

/** The form for the one-time code. It submits itself when all six digits are typed. */
export function CodeForm({ email, submit = words.code.submit, onSignedIn, onOtherWay }: CodeFormProps) {
  const attempt = useAttempt({ byMail: true, email, onSignedIn })
  const verify = useForm({ code: '' }, ({ code }) =>
    attempt.run((factor) => call('POST', '/auth/otp/verify', { body: { email, code, ...factor } })),
  )
  const again = useSubmit(() => call('POST', '/auth/otp/start', { body: { email } }))
  if (attempt.step !== undefined) return attempt.step
  const fault = verify.fault ?? again.fault
  const mailed =
    again.fault === 'account_locked' ? 'linkMailed' : again.done ? ('sentAgain' as const) : ('sent' as const)
  return (
    <Form onSubmit={verify.run}>
      <Notice tone="plain" icon="mail" text={words.code[mailed](email)} />
      <CodeField
        label={words.code.label}
        {...verify.field('code')}
        fault={fault && words.fault(fault)}
        onComplete={verify.run}
      />
      <Submit text={submit} busy={verify.busy} />
      <div class="row">
        <TextButton text={words.code.again} onPress={again.run} />
        {onOtherWay && <TextButton text={words.code.otherWay} onPress={onOtherWay} />}
      </div>
    </Form>
  )
}

/** The token of a mailed link, in the fragment of the page's address. */
export function linkToken(): string | undefined {
  return /^#sign-in=([\w-]+)$/.exec(location.hash)?.[1]
}

type LinkSignInProps = { token: string; onSignedIn: () => void; onOtherWay: () => void }

/** Signs in with a mailed link, by a button: mail scanners open links, and a link works once. */
export function LinkSignIn({ token, onSignedIn, onOtherWay }: LinkSignInProps) {
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
        <Notice tone="warn" urgent title={words.fault(logIn.fault)} text={text.newLinkHow} />
        <Button kind="primary" text={text.newLink} onPress={onOtherWay} />
      </div>
    )
  return (
    <Form onSubmit={logIn.run}>
      <Submit text={text.submit} of={logIn} />
      <TextButton text={text.withoutLink} onPress={onOtherWay} />
    </Form>
  )
}
