import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { words } from '../../../i18n/dashboard.js'
import { ngn } from '../../../lib/money.js'
import { Button } from '../../../ui/controls/button.js'
import { Notice } from '../../../ui/messages/notice.js'
import type { Payout } from '../../answers.js'
import { call } from '../../api.js'
import { FaultNotice } from '../../parts/fault-notice.js'
import { CodeField } from '../../parts/fields/code-field.js'
import { confirmByPasskey } from '../../security/factors/factor-dialog.js'
import { useSession } from '../../session.js'
import { knowsPasskeys } from '../../sign-in/passkeys.js'
import { useSubmit } from '../../use-submit.js'
import { lastDigits } from '../amounts.js'
import { confirmFault } from './holds.js'

/** Asks the owner to confirm a withdrawal: a code from the e-mail or from the app, or a passkey. */
export function ConfirmHold({
  payout,
  onConfirmed,
}: {
  readonly payout: Payout
  readonly onConfirmed: () => void
}): JSX.Element {
  const { security } = useSession()
  const [way, setWay] = useState<'code' | 'totp'>('code')
  const [code, setCode] = useState('')
  const [sentAgain, setSentAgain] = useState(false)
  const path = `/payouts/${encodeURIComponent(payout.reference)}/confirm`
  const confirm = useSubmit(async () => {
    await call('POST', path, { body: { [way]: code } })
    onConfirmed()
  })
  const byPasskey = useSubmit(async () => {
    await call('POST', path, { body: await confirmByPasskey() })
    onConfirmed()
  })
  const again = useSubmit(async () => {
    await call('POST', `${path}/resend`, { body: {} })
    setSentAgain(true)
    setCode('')
    confirm.clear()
  })
  const account = `${payout.bankName ?? payout.bankCode} ${lastDigits(payout.accountNumber)}`
  const hasPasskey = (security?.passkeys ?? 0) > 0 && knowsPasskeys()
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault()
        confirm.run()
      }}
    >
      <Notice tone="plain" icon="mail">
        <strong>{words.confirmation.why(ngn(payout.amountNGN), account)}</strong>
        <p>{sentAgain ? words.confirmation.mailedAgain : words.confirmation.mailed}</p>
      </Notice>
      <CodeField
        key={way}
        label={way === 'code' ? words.confirmation.code : words.factor.code}
        value={code}
        fault={confirm.fault && words.fault(confirmFault(confirm.fault, way))}
        onInput={(digits) => {
          setCode(digits)
          confirm.clear()
        }}
        onComplete={confirm.run}
      />
      <Button kind="primary" type="submit" busy={confirm.busy}>
        {words.confirmation.submit}
      </Button>
      {hasPasskey && (
        <Button busy={byPasskey.busy} onPress={byPasskey.run}>
          {words.confirmation.passkey}
        </Button>
      )}
      <FaultNotice
        fault={
          byPasskey.fault ?? (again.fault === 'too_many_requests' ? 'too_many_withdrawal_codes' : again.fault)
        }
      />
      <div class="row">
        <button type="button" class="link" aria-disabled={again.busy} onClick={again.run}>
          {words.confirmation.again}
        </button>
        {security?.totp === true && (
          <button
            type="button"
            class="link"
            onClick={() => {
              setWay(way === 'code' ? 'totp' : 'code')
              setCode('')
              confirm.clear()
            }}
          >
            {way === 'code' ? words.confirmation.app : words.confirmation.mail}
          </button>
        )}
      </div>
      {(hasPasskey || security?.totp === true) && <p class="quiet">{words.confirmation.young}</p>}
    </form>
  )
}
