import { query } from '../../platform/database/database.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import type { ProviderRefund } from '../../ports/refunds.js'
import type { Services } from '../../services.js'
import { advanceRefund } from '../lifecycle.js'
import { asRequested, decideNext, oursOf } from './decide-next.js'
import { endFailed, endPaid, notReturned } from './record-outcome.js'
import type { TipRefund } from './refund.js'

/**
 * What an operator does about a refund that no worker can end. `retry`: it is sent once more. `give-back`: the creator has the money
 * again. `returned`: the payer has it back in another way.
 */
export type RefundAction = 'retry' | 'give-back' | 'returned'

/** Whether an operator may do it. */
export type ActionStep =
  | { readonly kind: 'do' }
  /** The provider may still show a request. */
  | { readonly kind: 'wait'; readonly seconds: number }
  | { readonly kind: 'refuse'; readonly reason: string }

/**
 * Pure. Money of which a refund is or may be under way is neither sent again, nor given back, nor recorded as returned: otherwise it
 * would go out twice.
 */
export function decideAction(
  action: RefundAction,
  refund: TipRefund,
  shown: readonly ProviderRefund[],
  settleSeconds: number,
): ActionStep {
  if (refund.endedAt !== null) return { kind: 'refuse', reason: `it is ${refund.state} already` }
  if (refund.state === 'not_sent') {
    if (action !== 'give-back')
      return { kind: 'refuse', reason: 'it was not sent yet: the payouts worker sends it, or --give-back' }
    if (refund.sinceRestore === null) return { kind: 'do' }
  }
  const asked = asRequested(refund)
  const step = decideNext(asked, shown, settleSeconds)
  switch (step.kind) {
    case 'follow':
      return {
        kind: 'refuse',
        reason: `the provider shows it ${step.shown.state} as ${step.shown.id}: the payouts worker follows it, or end it at the provider's pages`,
      }
    case 'wait':
      return { kind: 'wait', seconds: Math.ceil(Math.max(1, settleSeconds - (asked.sinceSent ?? 0))) }
    case 'failed':
      return {
        kind: 'refuse',
        reason: 'the provider shows it failed: the payouts worker gives the money back',
      }
    case 'refuse': {
      // Such as two refunds that are both paid. What is still open there may yet be paid.
      const isOpen = oursOf(refund, shown).some(({ state }) => state !== 'paid' && state !== 'failed')
      return action === 'returned' && !isOpen ? { kind: 'do' } : step
    }
    case 'missing':
      return refund.state === 'sending' || refund.state === 'not_sent'
        ? { kind: 'do' }
        : { kind: 'refuse', reason: 'the provider had it and shows it no more: ask its support' }
  }
}

const notSent = advanceRefund('not_sent', ['sending'])

/** Does it in the caller's transaction. False: the refund has changed since it was read. */
export async function resolveRefund(
  uow: UnitOfWork,
  services: Pick<Services, 'config'>,
  { id, state, sentAt }: TipRefund,
  action: RefundAction,
): Promise<boolean> {
  if (action === 'returned') return endPaid(uow, services, id, { providerId: null, sentAt })
  if (action === 'give-back')
    return endFailed(uow, services, id, {
      reason: notReturned,
      from: [state],
      sentAt,
    })
  const rows = await query(uow.trx, {
    name: 'refunds.retry',
    text: /* sql */ `
      update refunds set ${notSent.set}, due_at = clock_timestamp(), last_error = null
      where id = $1 and ${notSent.from} and sent_at = $2 returning 1`,
    values: [id, sentAt],
  })
  uow.wake('payouts')
  return rows.length > 0
}
