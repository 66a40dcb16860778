import type { Dispute } from '../../../../scripts/sandbox/fiatpay/records.js'
import { composeRefundReader } from '../../../../src/compose.js'
import { createReturnsBatch } from '../../../../src/fiat/disputes/watch-returns.js'
import type { Batch } from '../../../../src/platform/worker/batch-loop.js'
import { as } from '../../servers/roles.js'
import { runBatch, type World } from '../../servers/world.js'
import { until } from '../../until.js'
import { proveEmailOf, registerCreator, type TestCreator } from '../creators.js'
import { createWithdrawal, followOutcome, sendDuePayouts } from '../withdrawals.js'
import { createFiatIntent, payFiatIntent, settleIntentNow } from './fiat-tips.js'

/** A paid naira tip. */
export interface PaidTip {
  readonly intentId: string
  /** The provider's id of its payment. */
  readonly payment: string
}

export const returnsBatch = ({ services }: Pick<World, 'services'>): Batch =>
  createReturnsBatch({ ...as('settlement', services), refunds: composeRefundReader(services.config) })

/** Makes the look at what came back due, and takes it. */
export async function lookNow(world: World): Promise<void> {
  const { attempts } = await world.db('dispute_polls').first()
  await world.db('dispute_polls').update({ due_at: new Date(0) })
  await until('somebody looks', async () => {
    await runBatch(returnsBatch(world))
    const look = await world.db('dispute_polls').first()
    return look.attempts > attempts
  })
}

/** A creator who can withdraw. */
export async function payableCreator(world: World): Promise<TestCreator> {
  const creator = await registerCreator(world)
  await proveEmailOf(world, creator)
  return creator
}

/** A tip of 10 USD, which credits 9.5, unless told otherwise. `kobo`: what its payer pays. */
export async function paidTip(
  world: World,
  { user }: Pick<TestCreator, 'user'>,
  { kobo, ...body }: { readonly kobo?: number; readonly [field: string]: unknown } = {},
): Promise<PaidTip> {
  const { intentId } = await createFiatIntent(world, { creatorId: user.id, amount: 10, ...body })
  payFiatIntent(world, intentId, kobo)
  await settleIntentNow(world, intentId)
  return { intentId, payment: await newestPayment(world, intentId) }
}

export async function newestPayment({ db }: Pick<World, 'db'>, intentId: string): Promise<string> {
  const row = await db('fiat_payments').where({ intent_id: intentId }).orderBy('created_at', 'desc').first()
  return row.provider_transaction
}

/** A payer disputes the newest payment of a tip: all of it, or so many kobo. The service has not looked yet. */
export function disputeTip({ fiat: { fiatpay } }: World, intentId: string, kobo?: number): Dispute {
  const charge = fiatpay.charges.find(intentId)
  const payment = charge?.payments.at(-1)
  if (charge === undefined || payment === undefined) throw new Error(`nothing is paid for ${intentId}`)
  return fiatpay.openDispute(charge, payment, kobo ?? payment.amountKobo)
}

/** The bank of the payer takes the newest payment back, without a dispute. */
export function reverseTip({ fiat: { fiatpay } }: World, intentId: string, kobo?: number): void {
  const charge = fiatpay.charges.find(intentId)
  const payment = charge?.payments.at(-1)
  if (charge === undefined || payment === undefined) throw new Error(`nothing is paid for ${intentId}`)
  fiatpay.reverse(charge, payment, kobo ?? payment.amountKobo)
}

/** A dispute ends, and the service has looked since. */
export async function endDispute(world: World, { id }: Dispute, outcome: 'won' | 'lost'): Promise<void> {
  const { fiatpay } = world.fiat
  const dispute = fiatpay.disputes.get(id)
  if (dispute === undefined) throw new Error(`no dispute ${id}`)
  if (outcome === 'won') fiatpay.winDispute(dispute)
  else fiatpay.loseDispute(dispute, 'auto-accepted', dispute.amountKobo)
  await lookNow(world)
}

/** A withdrawal that reached a bank account of the creator's own: one that is shared with somebody who owes is held. */
export async function payOut(world: World, creator: TestCreator, amountUSDC: number): Promise<void> {
  const accountNumber = BigInt(`0x${creator.user.id.slice(0, 8)}`)
    .toString()
    .padStart(10, '0')
  const { reference } = await createWithdrawal(world, creator, { amountUSDC, accountNumber })
  await sendDuePayouts(world)
  await followOutcome(world, reference, 'success')
}
