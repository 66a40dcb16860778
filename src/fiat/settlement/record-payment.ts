import type { Knex } from 'knex'
import { percentBps } from '../../kernel/money.js'
import { type Entry, platformAccount, userAccount } from '../../ledger/accounts.js'
import { query, write } from '../../platform/database/database.js'
import type { Payment } from '../../ports/collections.js'
import type { FiatCredit } from '../fees.js'
import { creditOrReserve } from './card-reserve.js'

export type SuspenseReason = 'underpaid' | 'overpaid' | 'paid_again'

/** What happens to a payment. Amounts in kobo. */
export interface Classification {
  /** What is credited of it; 0n when it credits nothing. */
  readonly countedKobo: bigint
  readonly suspense: { readonly kobo: bigint; readonly reason: SuspenseReason } | undefined
}

/**
 * Classifies a payment (docs/decisions/0018). The first payment that is short of the charge by at most `toleratedPercent`
 * credits the creator, however late it comes; a surplus over the charge waits in suspense. A smaller payment waits in
 * suspense, and so does every later one.
 */
export function classifyPayment(
  { kobo }: Pick<Payment, 'kobo'>,
  chargeKobo: bigint,
  { completed, toleratedPercent }: { readonly completed: boolean; readonly toleratedPercent: number },
): Classification {
  if (completed) return { countedKobo: 0n, suspense: { kobo, reason: 'paid_again' } }
  const leastBps = 10_000n - percentBps(toleratedPercent)
  if (kobo * 10_000n < chargeKobo * leastBps)
    return { countedKobo: 0n, suspense: { kobo, reason: 'underpaid' } }
  const surplus = kobo - chargeKobo
  if (surplus <= 0n) return { countedKobo: kobo, suspense: undefined }
  return { countedKobo: chargeKobo, suspense: { kobo: surplus, reason: 'overpaid' } }
}

export interface RecordedPayment {
  readonly intentId: string
  readonly userId: string
  readonly payment: Payment
  readonly classification: Classification
  /** Undefined when the payment credits nothing. */
  readonly credit: FiatCredit | undefined
  /** So long money that was paid by card is pending. */
  readonly cardReserveDays: number
}

/**
 * Records a payment: its row, one ledger transfer with the provider's transaction id as the key, and a suspense item if money
 * waits for an operator. The provider owes us the naira less its fee. What pays the charge goes to the exchange account `fx`,
 * the rest to suspense. The dollars of the creator and of the platform come out of `fx`.
 */
export async function recordPayment(trx: Knex, recorded: RecordedPayment): Promise<void> {
  const { payment, intentId, classification, cardReserveDays } = recorded
  const { countedKobo, suspense } = classification
  const [row] = await query<{ availableAt: Date | null }>(trx, {
    name: 'fiat.payment',
    text: /* sql */ `
      insert into fiat_payments (provider_transaction, intent_id, kobo, paid_at, disposition, available_at)
      values ($1, $2, $3, $4, $5, $4::timestamptz + $6::float8 * interval '1 day')
      returning case when available_at > clock_timestamp() then available_at end as "availableAt"`,
    values: [
      payment.transaction,
      intentId,
      payment.kobo,
      payment.paidAt,
      countedKobo > 0n ? 'credited' : 'suspense',
      payment.byCard && cardReserveDays > 0 ? cardReserveDays : null,
    ],
  })
  const transfer = {
    key: `fiatpay:${payment.transaction}`,
    ref: intentId,
    entries: paymentEntries(recorded),
  }
  await creditOrReserve(trx, transfer, row?.availableAt ?? null)
  if (suspense === undefined) return
  await write(trx, {
    name: 'fiat.suspense',
    text: 'insert into suspense_items (provider_transaction, kobo, reason) values ($1, $2, $3)',
    values: [payment.transaction, suspense.kobo, suspense.reason],
  })
}

function paymentEntries({ userId, payment, classification, credit }: RecordedPayment): Entry[] {
  const suspenseKobo = classification.suspense?.kobo ?? 0n
  const naira: Entry[] = [
    { account: platformAccount('collections_receivable', 'NGN'), amount: payment.feeKobo - payment.kobo },
    { account: platformAccount('provider_fees', 'NGN'), amount: -payment.feeKobo },
    { account: platformAccount('fx', 'NGN'), amount: payment.kobo - suspenseKobo },
    { account: platformAccount('suspense', 'NGN'), amount: suspenseKobo },
  ]
  const dollars = credit === undefined ? [] : creditEntries(userId, credit)
  return [...naira.filter(({ amount }) => amount !== 0n), ...dollars]
}

/** The entries that move a credit in dollars out of the exchange account to the creator and the platform. */
export function creditEntries(userId: string, { creditMicro, revenueMicro }: FiatCredit): Entry[] {
  const entries: Entry[] = [
    { account: platformAccount('fx', 'USDC'), amount: -(creditMicro + revenueMicro) },
    { account: userAccount(userId, 'available', 'USDC'), amount: creditMicro },
    { account: platformAccount('platform_fee', 'USDC'), amount: revenueMicro },
  ]
  return entries.filter(({ amount }) => amount !== 0n)
}
