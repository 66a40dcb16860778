import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { Brand } from '../parts/brand.js'
import { LinkSignIn, linkToken } from './link-sign-in.js'
import { Register } from './register.js'
import { SignIn } from './sign-in.js'

/** Sign in, or register. */
export function SignInPage({ onSignedIn }: { readonly onSignedIn: () => void }): JSX.Element {
  const [registering, setRegistering] = useState(location.hash === '#register')
  const [token, setToken] = useState(linkToken)
  const text = registering ? words.register : words.signIn
  return (
    <main class="sign-in-page">
      <Brand />
      <div class="card">
        <h1>{text.title}</h1>
        <p class="quiet">{text.lead}</p>
        {token !== undefined && (
          <LinkSignIn token={token} onSignedIn={onSignedIn} onOtherWay={() => setToken(undefined)} />
        )}
        {token === undefined && registering && <Register onSignedIn={onSignedIn} />}
        {token === undefined && !registering && <SignIn onSignedIn={onSignedIn} />}
      </div>
      {token === undefined && (
        <p class="sign-in-page__other">
          {text.other}{' '}
          <button type="button" class="link" onClick={() => setRegistering(!registering)}>
            {text.otherWay}
          </button>
        </p>
      )}
    </main>
  )
}
