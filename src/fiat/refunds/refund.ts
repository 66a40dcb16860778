import type { Knex } from 'knex'
import { sqlList } from '../../kernel/state-machine.js'
import { type Entry, platformAccount, transferEntries, userAccount } from '../../ledger/accounts.js'
import { type Posted, postReserved, reserve, voidReserved, voidToReserve } from '../../ledger/transfers.js'
import { isSendable, looksUp, notFrozen, sinceRestore } from '../../outgoing/guards.js'
import type { DueToFollow, DueToSend, LockedOutgoing, OutgoingAlarm } from '../../outgoing/kind.js'
import { openStatuses, reconciledStates } from '../../outgoing/lifecycle.js'
import type { Config } from '../../platform/config/config.js'
import { query } from '../../platform/database/database.js'
import type { DueRows } from '../../platform/database/due-rows.js'
import type { Services } from '../../services.js'
import { findAvailableAt, freeReserves, reserveAgain } from '../settlement/card-reserve.js'
import type { RefundPart } from './plan-refund.js'

/** A row of `refunds`: naira of one payment that go back to their payer. */
export interface Refund extends LockedOutgoing, DueToSend, DueToFollow, RefundPart {
  /** `tip`: its creator gives it back. `suspense`: an operator, of what nobody was credited. */
  readonly source: 'tip' | 'suspense'
  readonly requestId: string
  /** The creator who is debited. Null: nobody. */
  readonly userId: string | null
  readonly intentId: string
  /** The provider's id of the refund. */
  readonly providerId: string | null
  readonly failureReason: string | null
  readonly lastError: string | null
  readonly createdAt: Date
  readonly endedAt: Date | null
  readonly paidAt: Date
  /** A worker cannot end it, or cannot send it now. */
  readonly waitsForPerson: boolean
}

export type TipRefund = Refund & { readonly userId: string }

/** What the provider does not finish without somebody at its own pages. */
export const attentionText = 'it waits for somebody at the pages of the provider'
/** Why a person must act. */
export const reviewTexts: Readonly<
  Record<Exclude<OutgoingAlarm, 'held_up' | 'unanswered' | 'attention'>, string>
> = {
  unknown: 'the provider shows no such refund',
  mismatch: 'the provider shows other refunds of this payment. Compare them by hand',
  reversed: 'the provider has taken the money back after it was paid',
  failed_after_completed: 'the provider says that it failed after it was paid',
  paid_after_failed: 'the provider paid it although its creator has the money again',
  paid_after_recredit: 'the provider paid it again',
}

/** A worker cannot end it, or cannot send it now, as SQL. What the provider has accepted waits there, unless one of these is written. */
export const waitsForPerson = /* sql */ `(ended_at is null and last_error is not null
  and (send_state <> 'sent' or last_error in (${sqlList([attentionText, ...Object.values(reviewTexts)])})))`

/** `t`: the refund. */
const refundColumns = /* sql */ `
  t.id, t.source, t.request_id as "requestId", t.user_id as "userId", t.intent_id as "intentId",
  t.provider_transaction as transaction, t.amount_cents as "amountCents", t.kobo, t.debit_micro as "debitMicro",
  t.fee_micro as "feeMicro", t.status, t.send_state as "sendState", t.provider_id as "providerId",
  t.failure_reason as "failureReason", t.last_error as "lastError", t.created_at as "createdAt", t.ended_at as "endedAt",
  t.sent_at as "sentAt", t.sends, t.replays, t.attempts, t.looks as polls,
  extract(epoch from clock_timestamp() - t.sent_at)::float8 as "sinceSent",
  ${looksUp('t')} as "looksUp", ${sinceRestore} as "sinceRestore", t.adopted_at is not null as adopted,
  t.kobo as "netKobo", t.id as "providerReference", false as "isResolved", null::timestamptz as "recreditedAt",
  (select paid_at from fiat_payments where provider_transaction = t.provider_transaction) as "paidAt",
  ${waitsForPerson} as "waitsForPerson"`

/** What must hold for a refund to be sent, besides the switch. */
export const mayLeave = notFrozen
/** The refunds that a worker may send now, as SQL. */
export const sendableRefunds = isSendable(mayLeave)
/** The refunds of which the provider is asked, as SQL. */
export const followedRefunds = `send_state in (${sqlList(reconciledStates)}) and status in (${sqlList(openStatuses)})`

type Lease = Pick<Config['payouts'], 'leaseSeconds'>

const queueOf = (name: string, condition: string, { leaseSeconds }: Lease): DueRows => ({
  name,
  table: 'refunds',
  id: 'text',
  batchSize: 16,
  leaseSeconds,
  condition,
  columns: refundColumns,
})

export const refundsToSend = (lease: Lease): DueRows => queueOf('refunds', sendableRefunds, lease)

export const refundsToFollow = (lease: Lease): DueRows => ({
  ...queueOf('refunds-sent', followedRefunds, lease),
  // Why a person must decide stays until they do.
  onFinish: {
    columns: { error: 'text' },
    set: `looks = t.looks + 1,
      last_error = coalesce(s.error, case when t.send_state = 'manual_review' then t.last_error end)`,
  },
})

/** The refunds of a tip that its creator asked for, newest request first. */
export function listRefunds(db: Knex, intentId: string): Promise<TipRefund[]> {
  return query<TipRefund>(db, {
    name: 'refunds.of-tip',
    text: /* sql */ `
      select ${refundColumns} from refunds t where t.intent_id = $1 and t.source = 'tip'
      order by t.created_at desc, t.request_id, t.id`,
    values: [intentId],
  })
}

/** Refunds of tips and from suspense, oldest first. `state`: `open`, `all`, a status or a send state. */
export function listRefundsIn(
  db: Knex,
  {
    state,
    olderThanSeconds,
    limit,
  }: { readonly state: string; readonly olderThanSeconds: number; readonly limit: number },
): Promise<Refund[]> {
  return query<Refund>(db, {
    name: 'refunds.list',
    text: /* sql */ `
      select ${refundColumns} from refunds t
      where t.created_at <= clock_timestamp() - $2::float8 * interval '1 second' and case $1
        when 'all' then true when 'open' then t.ended_at is null else t.status = $1 or t.send_state = $1 end
      order by t.created_at, t.id limit $3`,
    values: [state, olderThanSeconds, limit],
  })
}

export async function findRefund(db: Knex, id: string): Promise<Refund | undefined> {
  const [row] = await query<Refund>(db, {
    name: 'refunds.find',
    text: `select ${refundColumns} from refunds t where t.id = $1`,
    values: [id],
  })
  return row
}

export async function lockRefund(trx: Knex, id: string): Promise<Refund | undefined> {
  const [row] = await query<Refund>(trx, {
    name: 'refunds.lock',
    text: `select ${refundColumns} from refunds t where t.id = $1 for no key update`,
    values: [id],
  })
  return row
}

/** Makes the refunds of the tip with this provider reference due that the provider has or may have. */
export async function makeRefundsDue(
  { db, wake }: Pick<Services, 'db' | 'wake'>,
  reference: string,
): Promise<void> {
  const rows = await query(db, {
    name: 'refunds.wake',
    text: /* sql */ `
      update refunds set due_at = clock_timestamp()
      where intent_id = (select id from fiat_intents where provider_reference = $1) and ${followedRefunds}
        and due_at > clock_timestamp() returning 1`,
    values: [reference],
  })
  if (rows.length > 0) wake('payouts')
}

/** Naira of refunds that the provider may have taken from our balance already, and that are not booked. */
export async function sumRefundsUnderWay(db: Knex): Promise<bigint> {
  const [row] = await query<{ kobo: bigint }>(db, {
    name: 'refunds.sum-under-way',
    text: /* sql */ `
      select coalesce(sum(kobo), 0)::bigint as kobo from refunds
      where ended_at is null and send_state <> 'not_sent'`,
    values: [],
  })
  return row?.kobo ?? 0n
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
export function postRefund(trx: Knex, refund: TipRefund): Promise<Posted> {
  const { id, userId, intentId, kobo, debitMicro, feeMicro } = refund
  const entries: Entry[] = [
    { account: held(userId), amount: -debitMicro },
    { account: platformAccount('platform_fee', 'USDC'), amount: -feeMicro },
    { account: platformAccount('fx', 'USDC'), amount: debitMicro + feeMicro },
    { account: platformAccount('fx', 'NGN'), amount: -kobo },
    { account: platformAccount('float_ngn', 'NGN'), amount: kobo },
  ]
  return postReserved(trx, {
    key: keyOf(id),
    ref: intentId,
    entries: entries.filter(({ amount }) => amount !== 0n),
  })
}

/** Nothing went back: the creator has the money again, pending while the days of a card payment are not over. */
export async function voidRefund(
  trx: Knex,
  { id, userId, intentId, transaction, debitMicro }: Reserved,
): Promise<Posted> {
  const availableAt = await findAvailableAt(trx, transaction)
  if (availableAt === undefined) return voidReserved(trx, keyOf(id))
  const posted = await voidToReserve(trx, keyOf(id))
  const key = { key: `${id}:back`, ref: intentId, userId }
  await reserveAgain(trx, key, { micro: debitMicro, availableAt })
  return posted
}
