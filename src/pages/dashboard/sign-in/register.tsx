import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { Button } from '../../ui/controls/button.js'
import { Notice } from '../../ui/messages/notice.js'
import { call } from '../api.js'
import { FaultNotice } from '../parts/fault-notice.js'
import { NameField } from '../parts/fields/name-field.js'
import { go } from '../route.js'
import { useSubmit } from '../use-submit.js'
import { EmailField } from './email-field.js'
import { NewPasswordField } from './password-field.js'

/** Creates an account, which is then signed in. */
export function Register({ onSignedIn }: { readonly onSignedIn: () => void }): JSX.Element {
  const [name, setName] = useState('')
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [common, setCommon] = useState(false)
  const register = useSubmit(async () => {
    const body = { name, email, password }
    await call('POST', '/auth/register', { body })
    // The account exists: without this answer the owner goes on.
    const check = call<{ common: boolean }>('POST', '/auth/password/check', { body: { password } })
    if ((await check.catch(() => undefined))?.common === true) setCommon(true)
    else onSignedIn()
  })
  if (common) return <CommonPassword onSignedIn={onSignedIn} />
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault()
        register.run()
      }}
    >
      <NameField value={name} onInput={setName} />
      <EmailField value={email} onInput={setEmail} />
      <NewPasswordField value={password} email={email} onInput={setPassword} />
      <FaultNotice fault={register.fault} />
      <Button kind="primary" type="submit" busy={register.busy}>
        {words.register.submit}
      </Button>
    </form>
  )
}

/** The account exists; its password is one that is guessed first. */
function CommonPassword({ onSignedIn }: { readonly onSignedIn: () => void }): JSX.Element {
  return (
    <div class="stack">
      <Notice tone="warn" icon="warn" urgent>
        <strong>{words.register.commonTitle}</strong>
        <p>{words.register.common}</p>
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
}
