import type { JSX } from 'preact'
import { words } from '../../../i18n/dashboard.js'
import { shortNgn } from '../../../lib/money.js'
import { Notice } from '../../../ui/messages/notice.js'
import type { HeldFor, Payout } from '../../answers.js'
import type { Terms } from '../amounts.js'
import { CancelHold } from './cancel-hold.js'
import { ConfirmHold } from './confirm-hold.js'

/** What a held withdrawal waits for, and what its creator can do about it. */
export function Hold({
  payout,
  hold,
  terms,
  onChanged,
}: {
  readonly payout: Payout
  readonly hold: HeldFor
  readonly terms: Terms
  readonly onChanged: () => void
}): JSX.Element {
  if (hold === 'dispute')
    return (
      <Notice tone="warn" icon="wait">
        {words.progress.onHoldMore}
      </Notice>
    )
  return (
    <>
      {hold === 'confirmation' ? (
        <ConfirmHold payout={payout} onConfirmed={onChanged} />
      ) : (
        <Notice tone="warn" icon="wait">
          {hold === 'breaker'
            ? words.progress.waitsTurn
            : words.progress.heldMore(shortNgn(terms.identitySingleNgn), shortNgn(terms.identityDailyNgn))}
        </Notice>
      )}
      <CancelHold payout={payout} onCancelled={onChanged} />
    </>
  )
}
