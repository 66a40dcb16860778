import type { Knex } from 'knex'
import { least } from '../../kernel/money.js'
import { findLastAcceptedRate } from '../../market/accepted-rates.js'
import { query } from '../../platform/database/database.js'
import { costOfReturn, type PaymentCredit, partOfReturn } from '../fees.js'
import { creditedOf, gonePayments } from '../gone-payments.js'

/** Whose the money of a payment is now. Read under the lock of its tip. */
export interface PaymentShares extends PaymentCredit {
  readonly transaction: string
  readonly intentId: string
  readonly userId: string
  /** What waits in suspense. */
  readonly suspenseKobo: bigint
  /** A part is being refunded, so nobody knows yet whether it is there. */
  readonly isRefunding: boolean
  /** What the creator loses when all of it goes back now. */
  readonly costMicro: bigint
  /** What is gone of it already: went back to the payer. */
  readonly goneKobo: bigint
}

/** Undefined: the payment is not recorded. */
export async function readShares(db: Knex, transaction: string): Promise<PaymentShares | undefined> {
  const [row] = await query<Omit<PaymentShares, 'costMicro'>>(db, {
    name: 'disputes.shares',
    text: /* sql */ `
      select p.provider_transaction as transaction, p.intent_id as "intentId", f.user_id as "userId",
        coalesce(case when s.state = 'waiting' then s.kobo end, 0) as "suspenseKobo",
        coalesce(s.state = 'refunding', false) or exists (
          select from refunds r where r.provider_transaction = p.provider_transaction and r.ended_at is null) as "isRefunding",
        c.kobo as "creditedKobo", c.creator as "creatorMicro", c.fee as "feeMicro", g.kobo as "goneKobo"
      from fiat_payments p join fiat_intents f on f.id = p.intent_id
      left join suspense_items s on s.provider_transaction = p.provider_transaction
      cross join lateral ${creditedOf('p.provider_transaction')} c
      cross join lateral (
        select coalesce(sum(credited_kobo), 0)::bigint as kobo from ${gonePayments} as gone where provider_transaction = $1) g
      where p.provider_transaction = $1`,
    values: [transaction],
  })
  if (row === undefined) return undefined
  return { ...row, costMicro: costOfReturn(row, (await findLastAcceptedRate(db))?.value) }
}

/** Whose loss it is when naira of a payment go back. */
export interface Loss {
  /** Of the part in suspense. */
  readonly suspenseKobo: bigint
  /** Of the part that was credited. */
  readonly creditedKobo: bigint
  /** The creator's loss. */
  readonly debitMicro: bigint
  /** The fee that the platform gives up. */
  readonly feeMicro: bigint
}

type Whole = Pick<PaymentShares, 'suspenseKobo' | 'creditedKobo' | 'costMicro' | 'feeMicro' | 'goneKobo'>

/**
 * Divides a loss of naira. Pure. What is in suspense goes first: it is nobody's yet. Of the rest the creator loses what those
 * naira cost (`costOfReturn`), rounded down, and the platform its own fee of them. Parts add up. Never more than what is left of the payment: the provider takes no naira twice.
 */
export function divideLoss(whole: Whole, kobo: bigint): Loss {
  const { creditedKobo, goneKobo } = whole
  const suspenseKobo = least(kobo, whole.suspenseKobo)
  const lost = least(kobo - suspenseKobo, creditedKobo - goneKobo)
  if (lost <= 0n) return { suspenseKobo, creditedKobo: 0n, debitMicro: 0n, feeMicro: 0n }
  const partOf = (micro: bigint): bigint => partOfReturn(micro, whole, lost)
  return {
    suspenseKobo,
    creditedKobo: lost,
    debitMicro: partOf(whole.costMicro),
    feeMicro: partOf(whole.feeMicro),
  }
}
