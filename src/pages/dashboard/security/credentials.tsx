import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { Form, TextField } from '../../ui/fields.js'
import { Announcer, Notice } from '../../ui/messages.js'
import type { Security } from '../answers.js'
import { call } from '../api.js'
import { Submit } from '../parts/forms.js'
import { ScreenLink } from '../parts/links.js'
import { FaultNotice } from '../parts/notices.js'
import { among, useSubmit } from '../requests.js'
import { useDrawer } from '../route.js'
import { useSession } from '../session.js'
import { NewPasswordField, passwordFaults } from '../sign-in/password-field.js'
import { confirmByPasskey, type Factor, FactorDialog, OwnerProofField } from './factor-dialog.js'
import { currentProof, hasFactor, type OwnerProof, proofFaults, proofWay } from './owner-proof.js'
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
  const ofNew = among(change.fault, passwordFaults)
  const ofProof = among(change.fault, proofFaults)
  const edit = (): void => {
    change.clear()
    setChanged(false)
  }
  return (
    <Form class="card" aria-labelledby="password-title" onSubmit={change.run}>
      <h2 id="password-title">{words.password.title}</h2>
      {!security.hasPassword && <p class="quiet">{words.password.none}</p>}
      <OwnerProofField
        security={security}
        proof={proof}
        fault={ofProof}
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
        fault={ofNew && words.fault(ofNew)}
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
      <Submit text={security.hasPassword ? words.password.change : words.password.set} busy={change.busy} />
    </Form>
  )
}

const factorDrawer = 'email-factor'
const emailFaults = ['email_in_use', 'email_required']

/** Changes the e-mail address, by a link mailed to the new one. */
export function EmailCard({ security }: { readonly security: Security }): JSX.Element {
  const { me, refresh } = useSession()
  const protect = useProtect()
  const [email, setEmail] = useState('')
  const [proof, setProof] = useState<OwnerProof>({ way: 'password', text: '' })
  const [sentTo, setSentTo] = useState<string>()
  const drawer = useDrawer()
  const send = async (factor: Factor | object): Promise<void> => {
    const body = { email, ...(await currentProof(proof, security, 'password', confirmByPasskey)), ...factor }
    await protect((again) => call('POST', '/auth/email', { body: { ...again, ...body } }))
  }
  const finish = (): void => {
    setSentTo(email)
    setEmail('')
    setProof({ ...proof, text: '' })
    refresh()
  }
  const change = useSubmit(async () => {
    // With a factor on, the password is not enough.
    if (hasFactor(security) && proofWay(proof, security) === 'password') return drawer.show(factorDrawer)
    await send({})
    finish()
  })
  const ofEmail = among(change.fault, emailFaults)
  const ofProof = among(change.fault, proofFaults)
  const waitingFor = sentTo ?? security.pendingEmail
  const text = words.address
  return (
    <>
      <Form class="card" aria-labelledby="address-title" onSubmit={change.run}>
        <h2 id="address-title">{text.title}</h2>
        <p>
          <bdi>{me.email}</bdi>{' '}
          <span class="quiet">{security.emailVerified ? text.confirmed : text.unconfirmed}</span>{' '}
          {!security.emailVerified && <ScreenLink to="home">{text.confirm}</ScreenLink>}
        </p>
        {waitingFor !== null && (
          <Notice tone="plain" icon="mail" urgent={sentTo !== undefined}>
            {text.waiting(waitingFor)}
          </Notice>
        )}
        <TextField
          label={text.new}
          hint={text.effect}
          fault={ofEmail && words.fault(ofEmail === 'email_required' ? 'invalid_email' : ofEmail)}
          type="email"
          name="new-email"
          autocomplete="email"
          required
          value={email}
          onInput={(next) => {
            setEmail(next)
            change.clear()
          }}
        />
        <OwnerProofField
          security={security}
          proof={proof}
          fault={ofProof}
          onChange={(next) => {
            setProof(next)
            change.clear()
          }}
        />
        <Submit
          text={text.change}
          kind="plain"
          busy={change.busy}
          fault={ofEmail || ofProof ? undefined : change.fault}
        />
      </Form>
      {drawer.open === factorDrawer && proof.text !== '' && (
        <FactorDialog
          title={text.change}
          effect={words.reauthentication.why}
          hint={words.factor.countsToRenew}
          submit={text.change}
          security={security}
          act={send}
          onClose={drawer.close}
          onDone={finish}
        />
      )}
    </>
  )
}
