import type { JSX } from 'preact'
import { words } from '../../../i18n/dashboard.js'
import { ngn } from '../../../lib/money.js'
import type { Payout } from '../../answers.js'
import { call } from '../../api.js'
import { FaultNotice } from '../../parts/fault-notice.js'
import { ConfirmationForm } from '../../security/confirmation-form.js'
import { lastDigits } from '../amounts.js'
import { confirmFault } from '../holds.js'

/** Asks the owner to confirm a withdrawal: a code from the e-mail or from the app, or a passkey. */
export function ConfirmHold({
  payout,
  onConfirmed,
}: {
  readonly payout: Payout
  readonly onConfirmed: () => void
}): JSX.Element {
  const path = `/payouts/${encodeURIComponent(payout.reference)}/confirm`
  const account = `${payout.bankName ?? payout.bankCode} ${lastDigits(payout.accountNumber)}`
  return (
    <ConfirmationForm
      confirm={async (proof) => {
        await call('POST', path, { body: proof })
        onConfirmed()
      }}
      mailAgain={async () => {
        await call('POST', `${path}/resend`, { body: {} })
        return true
      }}
      codeFault={(fault, way) => fault && confirmFault(fault, way)}
      notice={({ passkey, again }) => (
        <FaultNotice
          fault={passkey ?? (again === 'too_many_requests' ? 'too_many_withdrawal_codes' : again)}
        />
      )}
      young={words.confirmation.young}
    >
      {words.confirmation.why(ngn(payout.amountNGN), account)}
    </ConfirmationForm>
  )
}
