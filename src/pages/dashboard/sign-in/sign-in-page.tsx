import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { Brand } from '../parts/brand.js'
import { ForgotPassword } from './forgot-password.js'
import { LinkSignIn, linkToken } from './link-sign-in.js'
import { Register } from './register.js'
import { SignIn } from './sign-in.js'

/** The forms of the page, by the fragment of the address: Back leads to the form before. */
const fragments = { signIn: '', register: '#register', forgot: '#forgot-password' } as const
type Form = keyof typeof fragments

function formOfAddress(): Form {
  if (location.hash === fragments.register) return 'register'
  return location.hash === fragments.forgot ? 'forgot' : 'signIn'
}

/** Shows another form of the page. */
export function showForm(form: Form): void {
  location.hash = fragments[form]
}

/** Sign in, register, or have a new password mailed. */
export function SignInPage({ onSignedIn }: { readonly onSignedIn: () => void }): JSX.Element {
  const [form, setForm] = useState(formOfAddress)
  const [token, setToken] = useState(linkToken)
  const heading = useRef<HTMLHeadingElement>(null)
  const first = useRef(true)
  useEffect(() => {
    const follow = (): void => setForm(formOfAddress())
    window.addEventListener('hashchange', follow)
    return () => window.removeEventListener('hashchange', follow)
  }, [])
  useEffect(() => {
    if (!first.current) heading.current?.focus()
    first.current = false
    // Each new form focuses its heading.
  }, [form])
  const text = words[form]
  return (
    <main class="sign-in-page">
      <Brand />
      <div class="card">
        <h1 ref={heading} tabIndex={-1}>
          {text.title}
        </h1>
        <p class="quiet">{text.lead}</p>
        {token !== undefined && (
          <LinkSignIn token={token} onSignedIn={onSignedIn} onOtherWay={() => setToken(undefined)} />
        )}
        {token === undefined && form === 'register' && <Register onSignedIn={onSignedIn} />}
        {token === undefined && form === 'forgot' && <ForgotPassword onBack={() => showForm('signIn')} />}
        {token === undefined && form === 'signIn' && (
          <SignIn onSignedIn={onSignedIn} onForgot={() => showForm('forgot')} />
        )}
      </div>
      {token === undefined && form !== 'forgot' && (
        <p class="sign-in-page__other">
          {words[form].other}{' '}
          <button
            type="button"
            class="link"
            onClick={() => showForm(form === 'register' ? 'signIn' : 'register')}
          >
            {words[form].otherWay}
          </button>
        </p>
      )}
    </main>
  )
}
