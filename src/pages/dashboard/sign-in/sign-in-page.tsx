import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { Button } from '../../ui/buttons.js'
import { Form } from '../../ui/fields.js'
import { Notice } from '../../ui/messages.js'
import { call } from '../api.js'
import { OutsidePage } from '../parts/cards.js'
import { NameField } from '../parts/fields.js'
import { useFocus } from '../parts/focus.js'
import { Submit } from '../parts/forms.js'
import { TextButton } from '../parts/links.js'
import { useSubmit } from '../requests.js'
import { go } from '../route.js'
import { EmailField, NewPasswordField } from './password-field.js'
import { LinkSignIn, linkToken, SignIn } from './sign-in.js'

/** The forms of the page, by the fragment of the address: Back leads to the form before. */
const fragments = { signIn: '', register: '#register', forgot: '#forgot-password' } as const
type FormName = keyof typeof fragments

function formOfAddress(): FormName {
  if (location.hash === fragments.register) return 'register'
  return location.hash === fragments.forgot ? 'forgot' : 'signIn'
}

/** Shows another form of the page. */
export function showForm(form: FormName): void {
  location.hash = fragments[form]
}

/** Sign in, register, or have a new password mailed. */
export function SignInPage({ onSignedIn }: { readonly onSignedIn: () => void }): JSX.Element {
  const [form, setForm] = useState(formOfAddress)
  const [token, setToken] = useState(linkToken)
  const heading = useFocus(form)
  useEffect(() => {
    const follow = (): void => setForm(formOfAddress())
    window.addEventListener('hashchange', follow)
    return () => window.removeEventListener('hashchange', follow)
  }, [])
  const text = words[form]
  return (
    <OutsidePage
      title={text.title}
      heading={heading}
      below={
        token === undefined &&
        form !== 'forgot' && (
          <p class="sign-in-page__other">
            {words[form].other}{' '}
            <TextButton onPress={() => showForm(form === 'register' ? 'signIn' : 'register')}>
              {words[form].otherWay}
            </TextButton>
          </p>
        )
      }
    >
      <p class="quiet">{text.lead}</p>
      {token !== undefined ? (
        <LinkSignIn token={token} onSignedIn={onSignedIn} onOtherWay={() => setToken(undefined)} />
      ) : form === 'register' ? (
        <Register onSignedIn={onSignedIn} />
      ) : form === 'forgot' ? (
        <ForgotPassword onBack={() => showForm('signIn')} />
      ) : (
        <SignIn onSignedIn={onSignedIn} onForgot={() => showForm('forgot')} />
      )}
    </OutsidePage>
  )
}

/** Creates an account, which is then signed in. */
function Register({ onSignedIn }: { readonly onSignedIn: () => void }): JSX.Element {
  const [name, setName] = useState('')
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [common, setCommon] = useState(false)
  const register = useSubmit(async () => {
    await call('POST', '/auth/register', { body: { name, email, password } })
    // The account exists: without this answer the owner goes on.
    const check = call<{ common: boolean }>('POST', '/auth/password/check', { body: { password } })
    if ((await check.catch(() => undefined))?.common === true) setCommon(true)
    else onSignedIn()
  })
  // The account exists; its password is one that is guessed first.
  if (common)
    return (
      <div class="stack">
        <Notice tone="warn" icon="warn" urgent title={words.register.commonTitle}>
          {words.register.common}
        </Notice>
        <Button
          kind="primary"
          onPress={() => {
            go('security')
            onSignedIn()
          }}
        >
          {words.register.chooseAnother}
        </Button>
        <Button onPress={onSignedIn}>{words.register.keep}</Button>
      </div>
    )
  return (
    <Form onSubmit={register.run}>
      <NameField value={name} onInput={setName} />
      <EmailField value={email} onInput={setEmail} />
      <NewPasswordField value={password} email={email} onInput={setPassword} />
      <Submit text={words.register.submit} busy={register.busy} fault={register.fault} />
    </Form>
  )
}

/** Has a link for a new password mailed. The answer is the same whether or not there is such an account. */
function ForgotPassword({ onBack }: { readonly onBack: () => void }): JSX.Element {
  const [email, setEmail] = useState('')
  const [sentTo, setSentTo] = useState<string>()
  const send = useSubmit(async () => {
    await call('POST', '/auth/password/reset', { body: { email } })
    setSentTo(email)
  })
  return (
    <Form onSubmit={send.run}>
      {sentTo !== undefined && (
        <Notice tone="plain" icon="mail" urgent title={words.forgot.sentTitle}>
          <p>{words.forgot.sent(sentTo)}</p>
          <p>{words.forgot.notThere}</p>
        </Notice>
      )}
      <EmailField value={email} onInput={setEmail} />
      <Submit
        text={words.forgot.submit}
        kind={sentTo === undefined ? 'primary' : 'plain'}
        busy={send.busy}
        fault={send.fault}
      />
      <TextButton onPress={onBack}>{words.forgot.back}</TextButton>
    </Form>
  )
}
