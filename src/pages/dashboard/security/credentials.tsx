import { useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { Form, TextField } from '../../ui/fields.js'
import { Announcer, Notice } from '../../ui/kit.js'
import type { Security } from '../answers.js'
import { call } from '../api.js'
import { Submit } from '../parts/forms.js'
import { ScreenLink } from '../parts/links.js'
import { useForm } from '../requests.js'
import { useDrawer } from '../route.js'
import { useSession } from '../session.js'
import { NewPasswordField, passwordFaults } from '../sign-in/password-field.js'
import { confirmByPasskey, type Factor, FactorDialog, OwnerProofField } from './factor-dialog.js'
import { currentProof, hasFactor, type OwnerProof, proofFaults, proofWay } from './owner-proof.js'
import { useProtect } from './reauthentication.js'

const noProof: OwnerProof = { way: 'password', text: '' }

export function PasswordCard({ security }: { readonly security: Security }) {
  const { me, onSignedIn } = useSession()
  const protect = useProtect()
  const change = useForm({ proof: noProof, newPassword: '' }, async ({ proof, newPassword }) => {
    const given = await currentProof(proof, security, 'currentPassword', confirmByPasskey)
    await protect((again) => call('POST', '/auth/password', { body: { ...again, ...given, newPassword } }))
    change.set({ proof: { ...proof, text: '' }, newPassword: '' })
    // The other sessions are gone from their list.
    onSignedIn()
  })
  return (
    <Form class="card" aria-labelledby="password-title" onSubmit={change.run}>
      <h2 id="password-title">{words.password.title}</h2>
      {!security.hasPassword && <p class="quiet">{words.password.none}</p>}
      <OwnerProofField
        security={security}
        proof={change.values.proof}
        fault={change.told(proofFaults)}
        onChange={(proof) => change.set({ proof })}
      />
      <NewPasswordField
        label={words.password.new}
        name="new-password"
        email={me.email}
        {...change.field('newPassword', passwordFaults)}
      />
      <p class="quiet">{words.password.effect}</p>
      <Announcer text={change.done ? words.password.changed : ''} />
      {change.done && <Notice tone="good" text={words.password.changed} />}
      <Submit text={security.hasPassword ? words.password.change : words.password.set} of={change} />
    </Form>
  )
}

const factorDrawer = 'email-factor'
const emailFaults = ['email_in_use', 'email_required']
const emailFault = (code: string): string => words.fault(code === 'email_required' ? 'invalid_email' : code)

/** Changes the e-mail address, by a link mailed to the new one. */
export function EmailCard({ security }: { readonly security: Security }) {
  const { me, refresh } = useSession()
  const protect = useProtect()
  const [sentTo, setSentTo] = useState<string>()
  const drawer = useDrawer()
  const send = async (factor: Factor | object): Promise<void> => {
    const { email, proof } = change.values
    const body = { email, ...(await currentProof(proof, security, 'password', confirmByPasskey)), ...factor }
    await protect((again) => call('POST', '/auth/email', { body: { ...again, ...body } }))
  }
  const finish = (): void => {
    const { email, proof } = change.values
    setSentTo(email)
    change.set({ email: '', proof: { ...proof, text: '' } })
    refresh()
  }
  const change = useForm({ email: '', proof: noProof }, async ({ proof }) => {
    // With a factor on, the password is not enough.
    if (hasFactor(security) && proofWay(proof, security) === 'password') return drawer.show(factorDrawer)
    await send({})
    finish()
  })
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
          <Notice tone="plain" icon="mail" urgent={sentTo !== undefined} text={text.waiting(waitingFor)} />
        )}
        <TextField
          label={text.new}
          hint={text.effect}
          type="email"
          name="new-email"
          autocomplete="email"
          required
          {...change.field('email', emailFaults, emailFault)}
        />
        <OwnerProofField
          security={security}
          proof={change.values.proof}
          fault={change.told(proofFaults)}
          onChange={(proof) => change.set({ proof })}
        />
        <Submit text={text.change} kind="plain" of={change} />
      </Form>
      {drawer.open === factorDrawer && change.values.proof.text !== '' && (
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
