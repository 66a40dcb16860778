import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { Button } from '../../ui/controls/button.js'
import { Field } from '../../ui/controls/field.js'
import { Notice } from '../../ui/messages/notice.js'
import type { Security } from '../answers.js'
import { call } from '../api.js'
import { useDrawer } from '../parts/drawer.js'
import { FaultNotice } from '../parts/fault-notice.js'
import { ScreenLink } from '../parts/screen-link.js'
import { useSession } from '../session.js'
import { useSubmit } from '../use-submit.js'
import { confirmByPasskey, type Factor, FactorDialog } from './factors/factor-dialog.js'
import { currentProof, hasFactor, type OwnerProof, proofFaults, proofWay } from './owner-proof.js'
import { OwnerProofField } from './owner-proof-field.js'
import { useProtect } from './reauthentication.js'

const factorDrawer = 'email-factor'
const ofEmail = ['email_in_use', 'email_required']

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
  const { fault } = change
  const at = (codes: readonly string[]): string | undefined =>
    fault !== undefined && codes.includes(fault) ? fault : undefined
  const waitingFor = sentTo ?? security.pendingEmail
  return (
    <>
      <form
        class="card"
        aria-labelledby="address-title"
        onSubmit={(event) => {
          event.preventDefault()
          change.run()
        }}
      >
        <h2 id="address-title">{words.address.title}</h2>
        <p>
          <bdi>{me.email}</bdi>{' '}
          <span class="quiet">
            {security.emailVerified ? words.address.confirmed : words.address.unconfirmed}
          </span>{' '}
          {!security.emailVerified && <ScreenLink to="home">{words.address.confirm}</ScreenLink>}
        </p>
        {waitingFor !== null && (
          <Notice tone="plain" icon="mail" urgent={sentTo !== undefined}>
            {words.address.waiting(waitingFor)}
          </Notice>
        )}
        <Field
          label={words.address.new}
          hint={words.address.effect}
          fault={at(ofEmail) && words.fault(fault === 'email_required' ? 'invalid_email' : 'email_in_use')}
        >
          <input
            class="input"
            type="email"
            name="new-email"
            autocomplete="email"
            required
            value={email}
            onInput={({ currentTarget }) => {
              setEmail(currentTarget.value)
              change.clear()
            }}
          />
        </Field>
        <OwnerProofField
          security={security}
          proof={proof}
          fault={at(proofFaults)}
          onChange={(next) => {
            setProof(next)
            change.clear()
          }}
        />
        <FaultNotice fault={at([...ofEmail, ...proofFaults]) === undefined ? fault : undefined} />
        <Button type="submit" busy={change.busy}>
          {words.address.change}
        </Button>
      </form>
      {drawer.open === factorDrawer && proof.text !== '' && (
        <FactorDialog
          title={words.address.change}
          effect={words.reauthentication.why}
          hint={words.factor.countsToRenew}
          submit={words.address.change}
          security={security}
          act={send}
          onClose={drawer.close}
          onDone={() => {
            drawer.close()
            finish()
          }}
        />
      )}
    </>
  )
}
