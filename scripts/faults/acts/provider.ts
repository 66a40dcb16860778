import { reconcileNow } from '../../../src/withdrawals/work-queue.js'
import { outcomes, refundOutcomes } from '../../sandbox/fiatpay/records.js'
import { type Act, makeDue, nothing } from './context.js'
import { nairaPerDollar } from './stage.js'

/** The payout worker takes what is due; the provider may refuse it, be down, or take it and not say so. */
export const send: Act = async ({ stage, draw }) => {
  const transfers = draw.kind({
    manual: 12,
    reject: 1,
    'no-float': 1,
    '500': 1,
    'accept-then-500': 2,
    'accept-then-reset': 1,
  })
  const lookups = draw.kind({ ok: 6, 'not-found': 1, '500': 1 })
  const { faults } = stage.sandbox.fiatpay
  faults.setFault({ ...stage.fault, transfers, lookups })
  await makeDue(stage, 'withdrawals', { send_state: 'not_sent' })
  await stage.batches.payouts()
  if (draw.happens(0.5)) await stage.batches.reconciler()
  faults.setFault(stage.fault)
  return { text: `the payout worker runs (sending ${transfers}, lookups ${lookups})` }
}

/** The provider gives a transfer an outcome, also another one than before, and says so once, twice or not at all. */
export const event: Act = async ({ stage, draw, made }) => {
  const { fiatpay } = stage.sandbox
  const reference = draw.one(draw.happens(0.15) ? made.recredited : made.references, true)
  const transfer = reference === undefined ? undefined : fiatpay.transfers.find(reference)
  if (reference === undefined || transfer === undefined) return nothing
  const outcome = draw.oneOf(outcomes)
  // From now on it shows another amount, which is a mismatch.
  const shows = draw.happens(0.06) ? { amount: transfer.amountKobo - 50_000 } : undefined
  const copies = draw.whole(0, 2)
  const known = fiatpay.faults.faultFor(reference)
  fiatpay.faults.setFault({ id: reference, webhooks: { copies }, shows: shows ?? known.shows })
  fiatpay.setOutcome(transfer, outcome)
  if (copies > 0) {
    await reconcileNow(stage.services, reference.toLowerCase())
    await stage.batches.reconciler()
  }
  return {
    text: `the provider says ${outcome}${shows ? ', with another amount' : ''}, ${copies} times`,
    about: reference,
  }
}

/** The provider ends a refund, also otherwise than before. */
export const refundEvent: Act = async ({ stage, draw }) => {
  const { refunds } = stage.sandbox.fiatpay
  const refund = draw.one(refunds.all(), true)
  const status = draw.oneOf(refundOutcomes)
  if (refund?.status !== 'pending') return nothing
  refunds.write({ ...refund, status })
  return { text: `the provider says that the refund ${refund.id} is ${status}` }
}

/** The feed shows another rate: a little other, far off, none, or it is down. */
export const rate: Act = async ({ stage, draw, truth }) => {
  const how = draw.kind({ near: 12, far: 2, zero: 1, absent: 1, down: 1 })
  const NGN = Math.round(nairaPerDollar * (how === 'far' ? draw.oneOf([0.7, 1.3]) : 0.95 + draw.next() / 10))
  if (how === 'near' || how === 'far') truth.rates.add(NGN)
  const shown = how === 'zero' ? 0 : how === 'absent' ? null : NGN
  stage.sandbox.rates.set({ NGN: shown, feed: how === 'down' ? 'down' : 'ok' })
  return { text: `the rate feed: ${how}, ${shown}` }
}

/** A day passes for the reviews, so that `recredit` may be done without --now. */
export const day: Act = async ({ stage }) => {
  await stage.services.db.raw(
    `update review_items set created_at = created_at - interval '1 day' where resolved_at is null`,
  )
  return { text: 'a day passes' }
}
