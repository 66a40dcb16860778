import type { Knex } from 'knex'
import { divideHalfUp, divideUp, least, sumOf } from '../../kernel/money.js'
import { query } from '../../platform/database/database.js'
import { costOfReturn, type PaymentCredit, partOfReturn } from '../fees.js'
import { creditedOf, gonePayments } from '../gone-payments.js'

/** What a payment of a tip credited, and what is gone of it: refunded, or being refunded. */
export interface CreditedPayment extends PaymentCredit {
  readonly transaction: string
  readonly goneKobo: bigint
  readonly ageDays: number
}

/** The refund of one payment, or of a part of it. */
export interface RefundPart {
  readonly transaction: string
  /** Of the tip's amount. */
  readonly amountCents: bigint
  readonly kobo: bigint
  /** What the creator is debited. */
  readonly debitMicro: bigint
  /** The fee that the platform gives up. */
  readonly feeMicro: bigint
}

/** What these parts are together, of one of their amounts. */
export function amountOf(
  parts: readonly RefundPart[],
  amount: 'amountCents' | 'kobo' | 'debitMicro',
): bigint {
  return sumOf(parts, (part) => part[amount])
}

/** The payments of a tip that credited something. Read under the lock of the tip. */
export function readCredited(trx: Knex, intentId: string): Promise<CreditedPayment[]> {
  return query<CreditedPayment>(trx, {
    name: 'refunds.credited',
    text: /* sql */ `
      select p.provider_transaction as transaction,
        c.kobo as "creditedKobo", c.creator as "creatorMicro", c.fee as "feeMicro",
        g.kobo as "goneKobo", extract(epoch from clock_timestamp() - p.paid_at)::float8 / 86400 as "ageDays"
      from fiat_payments p
      cross join lateral ${creditedOf('p.provider_transaction')} c
      cross join lateral (
        select coalesce(sum(r.credited_kobo), 0)::bigint as kobo
        from ${gonePayments} r where r.provider_transaction = p.provider_transaction) g
      where p.intent_id = $1 and c.kobo > 0
      order by p.paid_at, p.provider_transaction`,
    values: [intentId],
  })
}

/** The naira of a payment that are left. */
export const leftOf = ({ creditedKobo, goneKobo }: CreditedPayment): bigint => creditedKobo - goneKobo

/** The naira of these payments that are left. */
export function leftKobo(payments: readonly CreditedPayment[]): bigint {
  return sumOf(payments, leftOf)
}

/**
 * Divides a refund of `amountCents`, of the `leftCents` that are left of a tip. Pure. The payer gets the same share of the naira that
 * are left, rounded up to the kobo, or exactly `givenKobo`; the last cent takes the last kobo. The creator is debited what those naira cost
 * (`costOfReturn`), rounded down, and the platform gives up its fee of them. Parts add up. The payment with most left goes first, so that most refunds need one payment.
 */
export function planRefund(
  payments: readonly CreditedPayment[],
  leftCents: bigint,
  amountCents: bigint,
  rate: bigint | undefined,
  givenKobo?: bigint,
): RefundPart[] {
  const all = leftKobo(payments)
  const share = amountCents === leftCents ? all : least(all, divideUp(all * amountCents, leftCents))
  const whole = givenKobo ?? share
  const parts: RefundPart[] = []
  let given = 0n
  const ordered = [...payments].sort((one, other) => Number(leftOf(other) - leftOf(one)))
  for (const payment of ordered) {
    const kobo = least(whole - given, leftOf(payment))
    if (kobo <= 0n) continue
    const cents = (of: bigint): bigint => divideHalfUp(amountCents * of, whole)
    parts.push({
      transaction: payment.transaction,
      amountCents: cents(given + kobo) - cents(given),
      kobo,
      debitMicro: partOfReturn(costOfReturn(payment, rate), payment, kobo),
      feeMicro: partOfReturn(payment.feeMicro, payment, kobo),
    })
    given += kobo
  }
  return parts
}
