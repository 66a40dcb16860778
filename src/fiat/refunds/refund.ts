import type { Knex } from 'knex'
import { type Entry, platformAccount, transferEntries, userAccount } from '../../ledger/accounts.js'
import { postReserved, reserve, voidReserved, voidToReserve } from '../../ledger/transfers.js'
import { query } from '../../platform/database/database.js'
import { followedStates, type TipRefundState } from '../lifecycle.js'
import { findAvailableAt, freeReserves, reserveAgain } from '../settlement/card-reserve.js'
import type { RefundPart } from './plan-refund.js'

/** A row of `refunds`: what a creator gives back of one payment. */
export interface TipRefund extends RefundPart {
  /** Our reference. */
  readonly id: string
  readonly requestId: string
  readonly userId: string
  readonly intentId: string
  readonly state: TipRefundState
  /** The provider's id of the refund. */
  readonly providerId: string | null
  readonly failureReason: string | null
  readonly lastError: string | null
  readonly createdAt: Date
  readonly endedAt: Date | null
  readonly sentAt: Date | null
  /** Requests that may have reached the provider. More than one only after an operator had it sent again. */
  readonly sends: number
  /** The fence: the next worker that takes the row has another number. */
  readonly attempts: number
  /** Seconds since the request began. Null: none was sent. */
  readonly sinceSent: number | null
  /** Seconds since a restore that is younger than the row was accepted: the provider may have it. Null: there was none. */
  readonly sinceRestore: number | null
  readonly paidAt: Date
}

/** `t`: the refund. */
export const refundColumns = /* sql */ `
  t.id, t.request_id as "requestId", t.user_id as "userId", t.intent_id as "intentId", t.provider_transaction as transaction,
  t.amount_cents as "amountCents", t.kobo, t.debit_micro as "debitMicro", t.fee_micro as "feeMicro", t.state,
  t.provider_id as "providerId", t.failure_reason as "failureReason", t.last_error as "lastError", t.created_at as "createdAt",
  t.ended_at as "endedAt", t.sent_at as "sentAt", t.sends, t.attempts,
  extract(epoch from clock_timestamp() - t.sent_at)::float8 as "sinceSent",
  (select extract(epoch from clock_timestamp() - e.restored_at)::float8 from database_epoch e
    where e.restored_at > t.created_at) as "sinceRestore",
  (select paid_at from fiat_payments where provider_transaction = t.provider_transaction) as "paidAt"`

/** The refunds of a tip, newest request first. */
export function listRefunds(db: Knex, intentId: string): Promise<TipRefund[]> {
  return query<TipRefund>(db, {
    name: 'refunds.of-tip',
    text: /* sql */ `
      select ${refundColumns} from refunds t where t.intent_id = $1 order by t.created_at desc, t.request_id, t.id`,
    values: [intentId],
  })
}

/** The refunds that have not ended, oldest first. */
export function listOpenRefunds(db: Knex, limit: number): Promise<TipRefund[]> {
  return query<TipRefund>(db, {
    name: 'refunds.open',
    text: `select ${refundColumns} from refunds t where t.ended_at is null order by t.created_at, t.id limit $1`,
    values: [limit],
  })
}

export async function findRefund(db: Knex, id: string): Promise<TipRefund | undefined> {
  const [row] = await query<TipRefund>(db, {
    name: 'refunds.find',
    text: /* sql */ `
      select ${refundColumns} from refunds t where t.id = $1`,
    values: [id],
  })
  return row
}

const keyOf = (id: string): string => `refund:${id}`
const available = (userId: string) => userAccount(userId, 'available', 'USDC')
const held = (userId: string) => userAccount(userId, 'held', 'USDC')

type Reserved = Pick<TipRefund, 'id' | 'userId' | 'intentId' | 'transaction' | 'debitMicro'>

/**
 * Sets the creator's money aside: what is pending of the payment, then what is available. The statement shows it with the tip's id.
 * Throws `insufficient_balance`.
 */
export async function reserveRefund(
  trx: Knex,
  { id, userId, intentId, transaction, debitMicro }: Reserved,
): Promise<void> {
  const freed = await freeReserves(trx, userId, transaction)
  const entries = transferEntries(debitMicro, available(userId), held(userId))
  await reserve(trx, { key: keyOf(id), ref: intentId, entries })
  if (freed === undefined) return
  const rest = { ...freed, micro: freed.micro - debitMicro }
  await reserveAgain(trx, { key: `${id}:rest`, ref: intentId, userId }, rest)
}

/** The payer has the naira. The dollars that were exchanged for them go back into `fx`, the platform's fee of them too. */
export async function postRefund(trx: Knex, refund: TipRefund): Promise<void> {
  const { id, userId, intentId, kobo, debitMicro, feeMicro } = refund
  const entries: Entry[] = [
    { account: held(userId), amount: -debitMicro },
    { account: platformAccount('platform_fee', 'USDC'), amount: -feeMicro },
    { account: platformAccount('fx', 'USDC'), amount: debitMicro + feeMicro },
    { account: platformAccount('fx', 'NGN'), amount: -kobo },
    { account: platformAccount('float_ngn', 'NGN'), amount: kobo },
  ]
  await postReserved(trx, {
    key: keyOf(id),
    ref: intentId,
    entries: entries.filter(({ amount }) => amount !== 0n),
  })
}

/** Nothing went back: the creator has the money again, pending while the days of a card payment are not over. */
export async function voidRefund(
  trx: Knex,
  { id, userId, intentId, transaction, debitMicro }: Reserved,
): Promise<void> {
  const availableAt = await findAvailableAt(trx, transaction)
  if (availableAt === undefined) await voidReserved(trx, keyOf(id))
  else {
    await voidToReserve(trx, keyOf(id))
    const key = { key: `${id}:back`, ref: intentId, userId }
    await reserveAgain(trx, key, { micro: debitMicro, availableAt })
  }
}

/** Naira of refunds that the provider may have taken from our balance already, and that are not booked. */
export async function sumTipRefundsUnderWay(db: Knex): Promise<bigint> {
  const [row] = await query<{ kobo: bigint }>(db, {
    name: 'refunds.sum-under-way',
    text: 'select coalesce(sum(kobo), 0)::bigint as kobo from refunds where state = any($1::text[])',
    values: [followedStates],
  })
  return row?.kobo ?? 0n
}
