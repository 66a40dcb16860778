import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { Brand } from '../parts/brand.js'
import { Register } from './register.js'
import { SignIn } from './sign-in.js'

/** The door: sign in, or make an account. */
export function Enter({ onEntered }: { readonly onEntered: () => void }): JSX.Element {
  const [fresh, setFresh] = useState(location.hash === '#register')
  const text = fresh ? words.register : words.signIn
  return (
    <main class="door">
      <Brand />
      <div class="card">
        <h1>{text.title}</h1>
        <p class="quiet">{text.lead}</p>
        {fresh ? <Register onEntered={onEntered} /> : <SignIn onEntered={onEntered} />}
      </div>
      <p class="door__other">
        {text.other}{' '}
        <button type="button" class="link" onClick={() => setFresh(!fresh)}>
          {text.otherWay}
        </button>
      </p>
    </main>
  )
}
