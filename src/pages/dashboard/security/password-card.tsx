import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { Button } from '../../ui/controls/button.js'
import { Announcer } from '../../ui/messages/announcer.js'
import { Notice } from '../../ui/messages/notice.js'
import type { Security } from '../answers.js'
import { call } from '../api.js'
import { FaultNotice } from '../parts/fault-notice.js'
import { useSession } from '../session.js'
import { NewPasswordField } from '../sign-in/password-field.js'
import { useSubmit } from '../use-submit.js'
import { confirmByPasskey } from './factors/factor-dialog.js'
import { currentProof, type OwnerProof, proofFaults } from './owner-proof.js'
import { OwnerProofField } from './owner-proof-field.js'
import { useProtect } from './reauthentication.js'

/** Changes the password, or sets one. */
export function PasswordCard({ security }: { readonly security: Security }): JSX.Element {
  const { me, onSignedIn } = useSession()
  const protect = useProtect()
  const [proof, setProof] = useState<OwnerProof>({ way: 'password', text: '' })
  const [password, setPassword] = useState('')
  const [changed, setChanged] = useState(false)
  const change = useSubmit(async () => {
    const body = {
      ...(await currentProof(proof, security, 'currentPassword', confirmByPasskey)),
      newPassword: password,
    }
    await protect((again) => call('POST', '/auth/password', { body: { ...again, ...body } }))
    setProof({ ...proof, text: '' })
    setPassword('')
    setChanged(true)
    // The other sessions are gone from their list.
    onSignedIn()
  })
  const ofNew = change.fault === 'invalid_password' || change.fault === 'common_password'
  const ofProof = change.fault !== undefined && proofFaults.includes(change.fault)
  const edit = (): void => {
    change.clear()
    setChanged(false)
  }
  return (
    <form
      class="card"
      aria-labelledby="password-title"
      onSubmit={(event) => {
        event.preventDefault()
        change.run()
      }}
    >
      <h2 id="password-title">{words.password.title}</h2>
      {!security.hasPassword && <p class="quiet">{words.password.none}</p>}
      <OwnerProofField
        security={security}
        proof={proof}
        fault={ofProof ? change.fault : undefined}
        onChange={(next) => {
          setProof(next)
          edit()
        }}
      />
      <NewPasswordField
        label={words.password.new}
        name="new-password"
        value={password}
        email={me.email}
        fault={ofNew ? change.fault && words.fault(change.fault) : undefined}
        onInput={(next) => {
          setPassword(next)
          edit()
        }}
      />
      <p class="quiet">{words.password.effect}</p>
      <FaultNotice fault={ofNew || ofProof ? undefined : change.fault} />
      <Announcer text={changed ? words.password.changed : ''} />
      {changed && (
        <Notice tone="good" icon="tick">
          {words.password.changed}
        </Notice>
      )}
      <Button kind="primary" type="submit" busy={change.busy}>
        {security.hasPassword ? words.password.change : words.password.set}
      </Button>
    </form>
  )
}
