import { queueEmail } from '../../mail/queue-email.js'
import { query } from '../../platform/database/database.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import type { Payment } from '../../ports/collections.js'
import type { Services } from '../../services.js'
import { confirmFiatTip, endFiatTip } from '../../tips/fiat-tip.js'
import { tipChannel } from '../../tips/read/channel.js'
import { creditOf, viewOfCredit } from '../fees.js'
import { classifyPayment, type SuspenseReason } from './classify-payment.js'
import type { FetchedPayments } from './fetch-payments.js'
import { lateRate } from './late-rate.js'
import { closeIntent, closeUnpaid, type LockedIntent, lockIntent } from './lock-intent.js'
import { receipt } from './receipt.js'
import { recordPayment } from './record-payment.js'

/** What a settlement did. */
export interface Settlement {
  readonly completed: boolean
  /** It was this one that completed the intent. */
  readonly credited: boolean
  readonly suspended: readonly SuspenseReason[]
}

/**
 * Takes what the provider says of an intent into the books, in the caller's transaction: every payment once, the
 * credit, the tip's confirmation, the receipt, and the end of an intent that failed or expired. Settling the same
 * again, or in two workers at once, changes nothing.
 */
export async function settleIntent(uow: UnitOfWork, id: string, seen: FetchedPayments): Promise<Settlement> {
  const intent = await lockIntent(uow.trx, id)
  let completed = intent.status === 'confirmed'
  const suspended: SuspenseReason[] = []
  const fresh = seen.payments.filter(({ transaction }) => !intent.booked.includes(transaction))
  for (const payment of fresh) {
    const judgement = classifyPayment(payment, intent.price.chargeKobo, completed)
    if (judgement.suspense !== undefined) suspended.push(judgement.suspense.reason)
    const credit = judgement.credits ? await complete(uow, intent, payment) : undefined
    await recordPayment(uow.trx, { intentId: id, userId: intent.userId, payment, judgement, credit })
    completed ||= judgement.credits
  }
  if (!completed) await end(uow, intent, seen.failed || fresh.length > 0)
  if (!completed && fresh.length > 0) await closeIntent(uow.trx, id)
  return { completed, credited: completed && intent.status !== 'confirmed', suspended }
}

/** Confirms the tip with what its payment is worth. Late money counts at the rate that gives less. */
async function complete(uow: UnitOfWork, intent: LockedIntent, payment: Payment) {
  const { trx, publish } = uow
  const { id, price, basis } = intent
  const paidLate = payment.paidAt > intent.expiresAt
  const rate = paidLate ? await lateRate(trx, intent) : { id: intent.rateId, value: intent.rate }
  const credit = creditOf(price, rate.value, basis)
  const view = viewOfCredit(price, credit.creditMicro)
  if (!(await confirmFiatTip(trx, { id, ...view, creditedMicro: credit.creditMicro })))
    throw new Error(`Fiat tip ${id} is ${intent.status} and cannot be confirmed`)
  await query(trx, {
    name: 'fiat.complete',
    text: /* sql */ `
      update fiat_intents set settled_kobo = $2, credited_micro = $3, settle_rate_id = $4, metadata = metadata || $5
      where id = $1`,
    values: [id, payment.kobo, credit.creditMicro, rate.id, JSON.stringify(paidLate ? { paidLate } : {})],
  })
  await closeIntent(trx, id)
  if (intent.wallet !== null) publish(tipChannel(intent.wallet))
  const { receiptTo } = intent
  if (receiptTo !== null)
    await queueEmail(uow, { kind: 'receipt', to: receiptTo, ...receipt(intent, payment) })
  return credit
}

/** An intent without its money: failed when the provider says so or too little came, cancelled when its time is over. */
async function end({ trx }: UnitOfWork, intent: LockedIntent, failed: boolean): Promise<void> {
  if (failed) {
    if (await endFiatTip(trx, intent.id, 'failed')) await closeIntent(trx, intent.id)
  } else if (intent.expired && (await endFiatTip(trx, intent.id, 'cancelled')))
    await closeUnpaid(trx, intent.id)
}

/** Counts what an operator must look at, and tips that were confirmed; after the commit. */
export function reportSettlement(
  { metrics, log }: Pick<Services, 'metrics' | 'log'>,
  id: string,
  { credited, suspended }: Settlement,
): void {
  if (credited) metrics.tipsConfirmed.inc()
  for (const reason of suspended) {
    metrics.alerts.inc({ kind: 'fiat_suspense' })
    log.error({ intentId: id, reason }, 'naira wait for an operator: run suspense')
  }
}
