import type { JSX } from 'preact'
import { words } from '../../../i18n/dashboard.js'
import { Button } from '../../../ui/controls/button.js'
import { Field } from '../../../ui/controls/field.js'
import { Dialog } from '../../../ui/messages/dialog.js'
import type { Security } from '../../answers.js'
import { FaultNotice } from '../../parts/fault-notice.js'
import { FactorField } from '../../parts/fields/factor-field.js'
import { useSession } from '../../session.js'
import { factorFault } from '../../sign-in/factor-step.js'
import { proofFaults } from '../owner-proof.js'
import { OwnerProofField } from '../owner-proof-field.js'
import { type ClosingForm, mayLeaveTokens, needsFactor } from './closing-form.js'
import { MoneyLeft } from './money-left.js'

/** The code of a typed address that is not the account's. */
export const wrongEmail = 'wrong_email'

/** Asks for the e-mail address and a proof of the owner before the account is closed. */
export function CloseDialog({
  security,
  form,
  money,
  fault,
  busy,
  onChange,
  onSubmit,
  onClose,
}: {
  readonly security: Security
  readonly form: ClosingForm
  /** What keeps the account open, as the service names it. */
  readonly money: readonly string[]
  /** An error code. */
  readonly fault: string | undefined
  readonly busy: boolean
  readonly onChange: (form: ClosingForm) => void
  readonly onSubmit: () => void
  readonly onClose: () => void
}): JSX.Element {
  const { me } = useSession()
  const bothNeeded = needsFactor(form, security)
  const ofFactor = bothNeeded && (fault === 'invalid_code' || fault === 'account_locked')
  const ofProof = !ofFactor && fault !== undefined && proofFaults.includes(fault)
  const ofEmail = fault === wrongEmail
  const told = ofFactor || ofProof || ofEmail || money.length > 0
  return (
    <Dialog title={words.closing.question} onClose={onClose}>
      <p>{words.closing.effect}</p>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          onSubmit()
        }}
      >
        <Field
          label={words.closing.type}
          hint={me.email}
          fault={ofEmail ? words.closing.otherAddress(me.email) : undefined}
        >
          <input
            class="input"
            name="confirm-email"
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
            inputMode="email"
            required
            value={form.typed}
            onInput={({ currentTarget }) => onChange({ ...form, typed: currentTarget.value })}
          />
        </Field>
        <OwnerProofField
          security={security}
          proof={form.proof}
          fault={ofProof ? fault : undefined}
          onChange={(proof) => onChange({ ...form, proof })}
        />
        {bothNeeded && (
          <FactorField
            app={security.totp}
            hint={words.factor.countsToRenew}
            value={form.factor}
            fault={ofFactor ? factorFault(fault) : undefined}
            onInput={(factor) => onChange({ ...form, factor })}
          />
        )}
        {money.length > 0 && (
          <MoneyLeft
            money={money}
            mayLeave={mayLeaveTokens(security)}
            leaveTokens={form.leaveTokens}
            onLeave={(leaveTokens) => onChange({ ...form, leaveTokens })}
          />
        )}
        <FaultNotice fault={told ? undefined : fault} />
        <Button kind="danger" type="submit" busy={busy}>
          {words.closing.submit}
        </Button>
        <Button onPress={onClose}>{words.cancel}</Button>
      </form>
    </Dialog>
  )
}
