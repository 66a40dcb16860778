import type { Knex } from 'knex'
import { query } from '../../platform/database/database.js'
import { gonePayments } from '../gone-payments.js'

/** Whose the money of a payment is now. Read under the lock of its tip. */
export interface PaymentShares {
  readonly transaction: string
  readonly intentId: string
  readonly userId: string
  /** What waits in suspense. */
  readonly suspenseKobo: bigint
  /** A part is being refunded, so nobody knows yet whether it is there. */
  readonly isRefunding: boolean
  /** What was credited, when it was paid or when it was assigned later: in naira, to the creator, and to the platform. */
  readonly creditedKobo: bigint
  readonly creatorMicro: bigint
  readonly feeMicro: bigint
  /** What is gone of it already: went back to the payer. */
  readonly goneKobo: bigint
  readonly goneMicro: bigint
}

/** Undefined: the payment is not recorded. */
export async function readShares(db: Knex, transaction: string): Promise<PaymentShares | undefined> {
  const [row] = await query<PaymentShares>(db, {
    name: 'disputes.shares',
    text: /* sql */ `
      select p.provider_transaction as transaction, p.intent_id as "intentId", f.user_id as "userId",
        coalesce(case when s.state = 'waiting' then s.kobo end, 0) as "suspenseKobo",
        coalesce(s.state = 'refunding', false) or exists (
          select from refunds r where r.provider_transaction = p.provider_transaction and r.ended_at is null) as "isRefunding",
        c.kobo as "creditedKobo", c.creator as "creatorMicro", c.fee as "feeMicro", g.kobo as "goneKobo", g.micro as "goneMicro"
      from fiat_payments p join fiat_intents f on f.id = p.intent_id
      left join suspense_items s on s.provider_transaction = p.provider_transaction
      cross join lateral (
        select coalesce(sum(e.amount) filter (where a.kind = 'fx' and a.currency = 'NGN'), 0)::bigint as kobo,
          coalesce(sum(e.amount) filter (where a.user_id is not null and a.currency = 'USDC'), 0)::bigint as creator,
          coalesce(sum(e.amount) filter (where a.kind = 'platform_fee' and a.currency = 'USDC'), 0)::bigint as fee
        from ledger_transfers t join ledger_entries e on e.transfer_id = t.id join ledger_accounts a on a.id = e.account_id
        where t.idem in ('fiatpay:' || $1, 'fiatpay:' || $1 || ':assigned')) c
      cross join lateral (
        select coalesce(sum(credited_kobo), 0)::bigint as kobo, coalesce(sum(debit_micro), 0)::bigint as micro
        from ${gonePayments} as gone where provider_transaction = $1) g
      where p.provider_transaction = $1`,
    values: [transaction],
  })
  return row
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

type Whole = Pick<
  PaymentShares,
  'suspenseKobo' | 'creditedKobo' | 'creatorMicro' | 'feeMicro' | 'goneKobo' | 'goneMicro'
>

/**
 * Divides a loss of naira. Pure. What is in suspense goes first: it is nobody's yet. Of the rest the creator loses what the tip
 * credited for those naira, rounded down, and the platform its own fee of them. Parts add up: when all of a payment is gone, both
 * have lost exactly what it brought. Never more than what is left of the payment: the provider takes no naira twice.
 */
export function divideLoss(whole: Whole, kobo: bigint): Loss {
  const { creditedKobo, goneKobo } = whole
  const suspenseKobo = least(kobo, whole.suspenseKobo)
  const lost = least(kobo - suspenseKobo, creditedKobo - goneKobo)
  if (lost <= 0n) return { suspenseKobo, creditedKobo: 0n, debitMicro: 0n, feeMicro: 0n }
  const partOf = (micro: bigint): bigint =>
    (micro * (goneKobo + lost)) / creditedKobo - (micro * goneKobo) / creditedKobo
  const debitMicro = least(partOf(whole.creatorMicro), whole.creatorMicro - whole.goneMicro)
  return { suspenseKobo, creditedKobo: lost, debitMicro, feeMicro: partOf(whole.feeMicro) }
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}
