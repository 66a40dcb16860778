import { requireUnsent } from '../../outgoing/guards.js'
import type { OutgoingKind } from '../../outgoing/kind.js'
import { openStatuses } from '../../outgoing/lifecycle.js'
import { advanceTo, failUnpaid, replay } from '../../outgoing/steps.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import type { ProviderRefund } from '../../ports/refunds.js'
import type { Refund } from './refund.js'
import { notReturned, oursOf } from './refund-kind.js'

/**
 * What an operator does about a refund that no worker can end. `retry`: it is sent once more. `give-back`: nothing went back, so the
 * creator has the money again, or it waits in suspense again. `returned`: the payer has it back in another way.
 */
export type RefundAction = 'retry' | 'give-back' | 'returned'

/** Whether an operator may do it. */
export type ActionStep =
  | { readonly kind: 'do' }
  /** The provider may still show a request. */
  | { readonly kind: 'wait'; readonly seconds: number }
  | { readonly kind: 'refuse'; readonly reason: string }

const never = Number.POSITIVE_INFINITY
const refuse = (reason: string): ActionStep => ({ kind: 'refuse', reason })

/**
 * Pure. Money of which a refund is or may be under way is neither sent again, nor given back, nor recorded as returned: otherwise it
 * would go out twice.
 */
export function decideAction(
  action: RefundAction,
  refund: Refund,
  shown: readonly ProviderRefund[],
  settleSeconds: number,
): ActionStep {
  const { status, sendState, looksUp } = refund
  if (!openStatuses.includes(status))
    return refuse(`it is ${status === 'completed' ? 'paid' : 'failed'} already`)
  if (sendState === 'not_sent' && action !== 'give-back')
    return refuse('it was not sent yet: the payouts worker sends it, or --give-back')
  if (sendState === 'not_sent' && !looksUp) return { kind: 'do' }
  const ours = oursOf(refund, shown)
  const live = ours.filter(({ state }) => state !== 'failed')
  if (live.length > 0) return decideShown(action, refund, live)
  const since = secondsSinceRequest(refund)
  const isSettled = since >= settleSeconds
  if (ours.length > 0 && isSettled)
    return refuse('the provider shows it failed: the payouts worker gives the money back')
  if (status !== 'pending' && action === 'retry')
    return refuse('the provider had it and shows it no more: ask its support, then --give-back or --returned')
  return isSettled ? { kind: 'do' } : { kind: 'wait', seconds: Math.ceil(Math.max(1, settleSeconds - since)) }
}

/** Since the last request that the provider may have. The lost time before a restore may have had one. */
function secondsSinceRequest({ sinceSent, sinceRestore, looksUp }: Refund): number {
  const lost = looksUp ? (sinceRestore ?? 0) : never
  return Math.min(lost, sinceSent ?? never)
}

/** The provider shows refunds that did not fail, at least one. */
function decideShown(action: RefundAction, { kobo }: Refund, live: readonly ProviderRefund[]): ActionStep {
  const [first] = live
  if (first !== undefined && live.length === 1 && first.kobo === kobo)
    return refuse(
      `the provider shows it ${first.state} as ${first.id}: the payouts worker follows it, or end it at the provider's pages`,
    )
  // Such as two refunds that are both paid. What is still open there may yet be paid.
  const isOpen = live.some(({ state }) => state !== 'paid')
  return action === 'returned' && !isOpen
    ? { kind: 'do' }
    : refuse('the provider shows other refunds of this payment. Compare them by hand')
}

/** Does it in the caller's transaction. False: the refund has changed since it was read. */
export async function resolveRefund(
  uow: UnitOfWork,
  kind: OutgoingKind<Refund>,
  read: Refund,
  action: RefundAction,
  /** The refund of it that the provider shows paid. */
  paidId: string | null,
): Promise<boolean> {
  const refund = await kind.lock(uow, read.id)
  const isSame =
    refund?.sendState === read.sendState &&
    refund.status === read.status &&
    refund.sentAt?.getTime() === read.sentAt?.getTime()
  if (!isSame) return false
  const answer = { providerId: paidId, reason: notReturned, feeKobo: 0n }
  // `decideAction` has seen that the provider does not have it, if the row was older than a restore then.
  const unpaid = {
    reason: notReturned,
    asked: new Map(read.looksUp ? [[refund.id, false]] : []),
    adopt: 'refunds',
  }
  if (action === 'retry') await replay(uow, kind, refund)
  else if (action === 'returned') await advanceTo(uow, kind, refund, 'completed', { ...answer, reason: null })
  else if (refund.status === 'pending') await failUnpaid(uow, kind, refund, unpaid)
  else {
    await requireUnsent(uow, kind.table, refund.id, unpaid.asked, unpaid.adopt)
    await advanceTo(uow, kind, refund, 'failed', answer)
  }
  return true
}
