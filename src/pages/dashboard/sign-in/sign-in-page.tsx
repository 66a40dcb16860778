import { useEffect, useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { Form } from '../../ui/fields.js'
import { Button, Notice, TextButton } from '../../ui/kit.js'
import { call } from '../api.js'
import { OutsidePage } from '../parts/cards.js'
import { NameField } from '../parts/fields.js'
import { Submit } from '../parts/forms.js'
import { useForm } from '../requests.js'
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

export function showForm(form: FormName): void {
  location.hash = fragments[form]
}

export function SignInPage({ onSignedIn }: { readonly onSignedIn: () => void }) {
  const [form, setForm] = useState(formOfAddress)
  const [token, setToken] = useState(linkToken)
  useEffect(() => {
    const follow = (): void => setForm(formOfAddress())
    window.addEventListener('hashchange', follow)
    return () => window.removeEventListener('hashchange', follow)
  }, [])
  const text = words[form]
  return (
    <OutsidePage
      title={text.title}
      below={
        token === undefined &&
        form !== 'forgot' && (
          <p class="sign-in-page__other">
            {words[form].other}{' '}
            <TextButton
              text={words[form].otherWay}
              onPress={() => showForm(form === 'register' ? 'signIn' : 'register')}
            />
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

function Register({ onSignedIn }: { readonly onSignedIn: () => void }) {
  const [common, setCommon] = useState(false)
  const register = useForm({ name: '', email: '', password: '' }, async (body) => {
    await call('POST', '/auth/register', { body })
    // The account exists: without this answer the owner goes on.
    const check = call<{ common: boolean }>('POST', '/auth/password/check', {
      body: { password: body.password },
    })
    if ((await check.catch(() => undefined))?.common === true) setCommon(true)
    else onSignedIn()
  })
  // The account exists; its password is one that is guessed first.
  if (common)
    return (
      <div class="stack">
        <Notice tone="warn" urgent title={words.register.commonTitle} text={words.register.common} />
        <Button
          kind="primary"
          text={words.register.chooseAnother}
          onPress={() => {
            go('security')
            onSignedIn()
          }}
        />
        <Button text={words.register.keep} onPress={onSignedIn} />
      </div>
    )
  return (
    <Form onSubmit={register.run}>
      <NameField {...register.field('name')} />
      <EmailField {...register.field('email')} />
      <NewPasswordField email={register.values.email} {...register.field('password')} />
      <Submit text={words.register.submit} of={register} />
    </Form>
  )
}

/** Has a link for a new password mailed. The answer is the same whether or not there is such an account. */
function ForgotPassword({ onBack }: { readonly onBack: () => void }) {
  const [sentTo, setSentTo] = useState<string>()
  const send = useForm({ email: '' }, async (body) => {
    await call('POST', '/auth/password/reset', { body })
    setSentTo(body.email)
  })
  return (
    <Form onSubmit={send.run}>
      {sentTo !== undefined && (
        <Notice tone="plain" icon="mail" urgent title={words.forgot.sentTitle}>
          <p>{words.forgot.sent(sentTo)}</p>
          <p>{words.forgot.notThere}</p>
        </Notice>
      )}
      <EmailField {...send.field('email')} />
      <Submit text={words.forgot.submit} kind={sentTo === undefined ? 'primary' : 'plain'} of={send} />
      <TextButton text={words.forgot.back} onPress={onBack} />
    </Form>
  )
}
