import type { Knex } from 'knex'
import { percentBps } from '../../kernel/money.js'
import { lagosText, nairaSignText } from '../../kernel/payer-texts.js'
import { statusUrl } from '../../kernel/status-link.js'
import { namedOrigin, type Origin } from '../../kernel/trace-context.js'
import { type EmailBlock, type EmailContent, type EmailFact, quoteInMail } from '../../mail/layout.js'
import { queueEmail } from '../../mail/queue-email.js'
import { type AcceptedRate, findLastAcceptedRate } from '../../market/accepted-rates.js'
import type { Config } from '../../platform/config/config.js'
import { write } from '../../platform/database/database.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import type { Payment } from '../../ports/collections.js'
import type { Services } from '../../services.js'
import { confirmFiatTip, endFiatTips } from '../../tips/fiat-tip.js'
import { tipChannel } from '../../tips/read/present.js'
import { amountsShown, computeCredit } from '../fees.js'
import { payerMailWords } from '../payer-mails/words.js'
import type { FetchedPayments } from './fetch-payments.js'
import type { DueFiatIntent } from './intent-queue.js'
import { closeCancelled, closeIntent, closingSql, type LockedIntent, lockIntent } from './lock-intent.js'
import { type Classification, classifyPayment, recordPayment, type SuspenseReason } from './record-payment.js'

export interface SettlementResult {
  readonly completed: boolean
  /** This settlement completed the intent. */
  readonly credited: boolean
  /** When the first payment that counts was made, as the provider says. */
  readonly paidAt: Date | undefined
  readonly suspended: readonly SuspenseReason[]
}

/**
 * Settles an intent in the caller's transaction: records each payment once, credits the creator, confirms the tip, queues
 * the receipt or the notice of a short payment, and ends an intent that failed or expired. A repetition, also in two
 * workers at the same time, changes nothing.
 */
export async function settleIntent(
  uow: UnitOfWork,
  { config }: { readonly config: Pick<Config, 'fiat' | 'rates' | 'http'> },
  id: string,
  fetched: FetchedPayments,
): Promise<SettlementResult> {
  const intent = await lockIntent(uow.trx, id)
  let completed = intent.status === 'confirmed'
  const suspended: SuspenseReason[] = []
  let paidAt: Date | undefined
  const newPayments = fetched.payments.filter(({ transaction }) => !intent.recorded.includes(transaction))
  for (const payment of newPayments) {
    const classification = classifyPayment(payment, intent.price.chargeKobo, {
      completed,
      toleratedPercent: config.fiat.shortPaymentPercent,
    })
    const { suspense, countedKobo } = classification
    if (suspense !== undefined) suspended.push(suspense.reason)
    const credit = countedKobo > 0n ? await complete(uow, config, intent, payment, classification) : undefined
    await recordPayment(uow.trx, {
      intentId: id,
      userId: intent.userId,
      payment,
      classification,
      credit,
      cardReserveDays: config.fiat.cardReserveDays,
    })
    if (countedKobo > 0n) paidAt ??= payment.paidAt
    completed ||= countedKobo > 0n
  }
  // Nothing was completed, so each new payment was too short.
  if (!completed) for (const payment of newPayments) await notifyShort(uow, config, intent, payment)
  if (!completed) await endUnpaid(uow, intent, fetched.failed || newPayments.length > 0)
  if (!completed && newPayments.length > 0) await closeIntent(uow.trx, id)
  return { completed, credited: completed && intent.status !== 'confirmed', paidAt, suspended }
}

/** Confirms the tip and credits its payment. */
async function complete(
  uow: UnitOfWork,
  { rates, http }: Pick<Config, 'rates' | 'http'>,
  intent: LockedIntent,
  payment: Payment,
  { countedKobo: kobo }: Classification,
) {
  const { trx, publish } = uow
  const { id, price, basis } = intent
  const paidLate = payment.paidAt > intent.expiresAt
  const rate = await readSettleRate(trx, intent, paidLate ? 0 : rates.lockTolerancePercent)
  const credit = computeCredit(price, { kobo, rate: rate.value, lockedRate: intent.rate }, basis)
  const amounts = amountsShown(price, credit, kobo)
  if (!(await confirmFiatTip(uow, { id, ...amounts, creditedMicro: credit.creditMicro })))
    throw new Error(`Fiat tip ${id} is ${intent.status} and cannot be confirmed`)
  await write(trx, {
    name: 'fiat.complete',
    text: /* sql */ `
      update fiat_intents set settled_kobo = $2, credited_micro = $3, settle_rate_id = $4, metadata = metadata || $5,
        ${closingSql}
      where id = $1`,
    values: [id, kobo, credit.creditMicro, rate.id, JSON.stringify(paidLate ? { paidLate } : {})],
  })
  if (intent.wallet !== null) publish(tipChannel(intent.wallet))
  await queueReceipt(uow, http, intent, payment)
  return credit
}

/** For a payer who gave an address, in the transaction that credits the payment. */
export async function queueReceipt(
  uow: UnitOfWork,
  { publicUrl }: Pick<Config['http'], 'publicUrl'>,
  intent: LockedIntent,
  payment: Pick<Payment, 'kobo' | 'paidAt'>,
): Promise<void> {
  const { receiptTo } = intent
  if (receiptTo !== null)
    await queueEmail(uow, { kind: 'receipt', to: receiptTo, ...receipt(publicUrl, intent, payment) })
}

/** Tells a payer who gave an address that too little arrived. In the transaction that records the payment. */
async function notifyShort(
  uow: UnitOfWork,
  { http }: Pick<Config, 'http'>,
  intent: LockedIntent,
  payment: Payment,
): Promise<void> {
  const { receiptTo } = intent
  if (receiptTo !== null)
    await queueEmail(uow, {
      kind: 'short-payment',
      to: receiptTo,
      ...shortPaymentNotice(http.publicUrl, intent, payment),
    })
}

/**
 * The rate at which a payment counts: the locked one, or the last accepted one if it is more than the tolerance higher, which
 * gives less (docs/decisions/0016). Otherwise a payer could wait for a better rate at the platform's expense.
 */
export async function readSettleRate(
  trx: Knex,
  { rateId, rate }: Pick<LockedIntent, 'rateId' | 'rate'>,
  tolerancePercent: number,
): Promise<Pick<AcceptedRate, 'id' | 'value'>> {
  const current = await findLastAcceptedRate(trx)
  const most = rate * (10_000n + percentBps(tolerancePercent))
  return current !== undefined && current.value * 10_000n > most ? current : { id: rateId, value: rate }
}

/** Ends an intent that is not paid: failed if the provider says so or too little was paid, cancelled if it has expired. */
async function endUnpaid(uow: UnitOfWork, intent: LockedIntent, failed: boolean): Promise<void> {
  const { trx } = uow
  if (failed) {
    if ((await endFiatTips(uow, [intent.id], 'failed')).length > 0) await closeIntent(trx, intent.id)
  } else if (intent.expired && (await endFiatTips(uow, [intent.id], 'cancelled')).length > 0)
    await closeCancelled(trx, intent.id)
}

/** Counts confirmed tips, and alarms an operator about money in suspense. Call it after the commit. */
export function reportSettlement(
  { metrics, log }: Pick<Services, 'metrics' | 'log'>,
  { id, ...origin }: Pick<DueFiatIntent, 'id' | keyof Origin>,
  { credited, paidAt, suspended }: SettlementResult,
): void {
  if (credited) metrics.tipsConfirmed.inc()
  if (credited && paidAt !== undefined)
    metrics.nairaCreditSeconds.observe(Math.max(0, Date.now() - paidAt.getTime()) / 1000)
  for (const reason of suspended) {
    metrics.alerts.inc({ kind: 'fiat_suspense' })
    log.error(
      { tip: id, ...namedOrigin(origin), reason },
      'naira wait for an operator. Run: npm run ops -- suspense',
    )
  }
}

type Named = Pick<
  LockedIntent,
  'id' | 'creatorName' | 'price' | 'reference' | 'message' | 'language' | 'statusKey'
>

/** The page that says how the payment stands from now on. */
function statusBlocks(publicUrl: string, { id, language, statusKey }: Named): EmailBlock[] {
  const words = payerMailWords[language]
  return [words.statusPage, { link: statusUrl(publicUrl, statusKey, id), label: words.seePayment }]
}

/**
 * The receipt of a completed fiat tip. The creator's name and the message are the only texts that a user chose. They are cut and have
 * no links, because for NGN 100 anyone can have this mail with words of their own sent to any address.
 */
function receipt(
  publicUrl: string,
  intent: Named,
  { kobo, paidAt }: Pick<Payment, 'kobo' | 'paidAt'>,
): EmailContent {
  const { id, creatorName, price, reference, message, language } = intent
  const { noMistake, receipt: words } = payerMailWords[language]
  const { chargeKobo } = price
  const naira = (amount: bigint) => nairaSignText(amount, language)
  const given = naira(kobo < chargeKobo ? kobo : chargeKobo)
  const surplus = kobo > chargeKobo ? [words.surplus(naira(kobo), given, naira(kobo - chargeKobo))] : []
  const facts: EmailFact[] = [
    [words.paid, lagosText(paidAt, language)],
    ...(message === null ? [] : [[words.message, `"${quoteInMail(message)}"`] as const]),
    ...(reference === null ? [] : [[words.reference, `"${quoteInMail(reference)}"`] as const]),
    [words.number, id],
  ]
  return {
    language,
    subject: words.subject(given),
    blocks: [
      words.lead(quoteInMail(creatorName)),
      { standout: given },
      ...surplus,
      { facts },
      ...statusBlocks(publicUrl, intent),
      noMistake,
    ],
  }
}

/** For the payer of too little: what happened, and what to do. */
function shortPaymentNotice(publicUrl: string, intent: Named, { kobo, paidAt }: Payment): EmailContent {
  const { id, creatorName, price, language } = intent
  const { noMistake, number, short: words } = payerMailWords[language]
  const arrived = nairaSignText(kobo, language)
  const asked = nairaSignText(price.chargeKobo, language)
  return {
    language,
    subject: words.subject(arrived),
    blocks: [
      words.lead(quoteInMail(creatorName), asked, lagosText(paidAt, language)),
      { standout: arrived },
      words.more,
      number(id),
      ...statusBlocks(publicUrl, intent),
      noMistake,
    ],
  }
}
