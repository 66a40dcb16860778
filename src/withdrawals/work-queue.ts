import type { Knex } from 'knex'
import { sqlList } from '../kernel/state-machine.js'
import { type Origin, originColumns } from '../kernel/trace-context.js'
import { isShort, uncovered } from '../ledger/receivables/read-receivables.js'
import { isSendable, looksUp, notFrozen, sinceRestore } from '../outgoing/guards.js'
import type { DueToFollow, DueToSend } from '../outgoing/kind.js'
import {
  pollNowStates,
  reconciledStates,
  type SendState,
  sendableStates,
  unclearStates,
} from '../outgoing/lifecycle.js'
import type { Config } from '../platform/config/config.js'
import { query } from '../platform/database/database.js'
import type { DueRows } from '../platform/database/due-rows.js'
import type { RowJob } from '../platform/queue/wake-ups.js'
import type { Services } from '../services.js'
import type { StoredAccount } from './bank-account.js'

export interface DuePayout extends DueToSend, Origin, StoredAccount {
  readonly userId: string
  readonly reference: string
  readonly providerReference: string
  readonly replays: number
  readonly netKobo: bigint
  readonly bankCode: string
  readonly recipient: string | null
  /** The account's name at the bank is recorded. */
  readonly nameKnown: boolean
  /** It waits for a review of somebody else's debt. */
  readonly inReview: boolean
  /** Somebody else owes, or may come to owe. */
  readonly othersOwe: boolean
  /** It waited for a payout limit before. */
  readonly waited: boolean
  /** An operator has it sent beyond the limits. */
  readonly released: boolean
  /** How long it waited for us, and not for its creator or an identity. Null: it waited for a payout limit. */
  readonly waitedSeconds: number | null
}

/**
 * The creator's balance covers the disputes and what is owed, as SQL. Nothing of the others is sent: what they lack is in these
 * withdrawals. What was adopted is not sent at all, only followed.
 */
const isCovered = `(adopted_at is not null or not (${isShort('user_id')}))`

/** What must hold for a withdrawal to be sent, besides the switch and the limits. */
export const mayLeave = `${notFrozen} and ${isCovered}`

/** The withdrawals that a worker may send now, as SQL. */
export const sendablePayouts = isSendable(mayLeave)

/** Whether a withdrawal waits for the review of a debt, as SQL: its creator seems to be somebody who owes. */
export function isInReview(alias: string): string {
  return `exists (select from review_items where withdrawal_id = ${alias}.id and kind = 'debt' and resolved_at is null)`
}

/** Whether a withdrawal waits for disputes or debts alone, as SQL that names `withdrawals` as `alias`. */
export function waitsForDispute(alias: string): string {
  return /* sql */ `(${alias}.status = 'pending' and ${alias}.send_state in (${sqlList(sendableStates)})
    and ${alias}.adopted_at is null and (${isShort(`${alias}.user_id`)} or ${isInReview(alias)}))`
}

type Lease = Pick<Config['payouts'], 'leaseSeconds'>

/** The provider is called for all withdrawals of a batch in parallel. */
const batchSize = 16

/** The withdrawals to send. While payouts are paused: none. */
export function payoutQueue({ leaseSeconds }: Lease): DueRows {
  return {
    name: 'payouts',
    table: 'withdrawals',
    id: 'uuid',
    batchSize,
    leaseSeconds,
    condition: sendablePayouts,
    columns: /* sql */ `
      t.id, t.user_id as "userId", t.reference, ${originColumns('t')},
      t.provider_reference as "providerReference", t.status, t.send_state as "sendState", t.sends, t.replays,
      t.net_kobo as "netKobo", t.bank_code as "bankCode", t.sealed_account as "sealedAccount",
      t.recipient_code as recipient, t.sealed_resolved_name is not null as "nameKnown", ${isInReview('t')} as "inReview",
      exists (select from receivables where creator_id <> t.user_id and ${uncovered}) as "othersOwe",
      t.breaker is not null as waited,
      t.breaker_released_at is not null as released,
      ${looksUp('t')} as "looksUp", ${sinceRestore} as "sinceRestore",
      t.adopted_at is not null as adopted, t.attempts,
      case when t.breaker_since is null then extract(epoch from clock_timestamp() - greatest(t.created_at, t.confirmed_at,
        t.breaker_released_at, (select identity_verified_at from users u where u.id = t.user_id)))::float8 end as "waitedSeconds"`,
  }
}

export interface DueReconciliation extends DueToFollow, Origin {
  readonly reference: string
  readonly providerReference: string
}

export function reconcilerQueue({ leaseSeconds }: Lease): DueRows {
  return {
    name: 'reconciler',
    table: 'withdrawals',
    id: 'uuid',
    batchSize,
    leaseSeconds,
    condition: `send_state in (${sqlList(reconciledStates)})`,
    columns: /* sql */ `
      t.id, t.reference, ${originColumns('t')}, t.provider_reference as "providerReference", t.status,
      t.send_state as "sendState", t.sends, t.attempts, t.looks as polls`,
    onFinish: { columns: { error: 'text' }, set: 'looks = t.looks + 1, last_error = s.error' },
  }
}

/**
 * Makes the reconciler poll a withdrawal now, by the provider's reference; one that waits to be sent again too, which may wait for long.
 * Skips a withdrawal that a worker is sending. False when there is nothing to poll.
 */
export async function reconcileNow(
  { db, wake }: Pick<Services, 'db' | 'wake'>,
  providerReference: string,
): Promise<boolean> {
  const rows = await query(db, {
    name: 'payouts.reconcile-now',
    text: /* sql */ `
      update withdrawals set due_at = clock_timestamp(),
        send_state = case send_state when 'resend' then 'unknown' else send_state end
      where reference = upper($1) and provider_reference = $1 and send_state in (${sqlList([...pollNowStates, 'resend'])})
      returning id`,
    values: [providerReference],
  })
  if (rows.length > 0) wake('reconciler')
  return rows.length > 0
}

/** The fields of a withdrawal that the ids of its jobs depend on. */
export interface SendCount {
  readonly reference: string
  /** How many sendings there were before. */
  readonly sends: number
  /** How often an operator had it sent again, this time included. */
  readonly replays: number
}

/**
 * The BullMQ job that stands for one sending of a withdrawal. BullMQ ignores a job whose id exists, also a failed one. So the
 * id grows with each sending and each replay.
 */
export function payoutJob({ reference, sends, replays, requestId, traceId }: SendCount & Origin): RowJob {
  return { id: jobId(reference, sends + replays + 1), row: reference, origin: { requestId, traceId } }
}

export function payoutJobIds({ reference, sends, replays }: SendCount): string[] {
  return Array.from({ length: sends + replays + 1 }, (_, index) => jobId(reference, index + 1))
}

function jobId(reference: string, number: number): string {
  return `payout-${reference}-${number}`
}

/**
 * Makes a withdrawal due whose job somebody retries: one that waits to be sent after an error is sent now, and one that may have
 * been sent is polled now. Skips one that a worker is sending.
 */
export async function makePayoutDue(
  { db, wake }: Pick<Services, 'db' | 'wake'>,
  reference: string,
): Promise<void> {
  const rows = await query<{ sendState: SendState }>(db, {
    name: 'payouts.make-due',
    text: /* sql */ `
      update withdrawals set due_at = clock_timestamp()
      where reference = $1 and status = 'pending' and due_at > clock_timestamp()
        and (send_state = 'not_sent' and last_error is not null or send_state in (${sqlList(unclearStates)}))
      returning send_state as "sendState"`,
    values: [reference],
  })
  if (rows.some(({ sendState }) => sendState !== 'not_sent')) wake('reconciler')
}

/** Why the job of a withdrawal failed. Undefined when the withdrawal has an outcome, or a worker is sending it. */
export async function payoutJobFailure(db: Knex, reference: string): Promise<string | undefined> {
  const [row] = await query<{ failure: string }>(db, {
    name: 'payouts.job-failure',
    text: /* sql */ `
      select send_state || ': ' || coalesce(last_error, 'no answer') as failure from withdrawals
      where reference = $1 and status = 'pending'
        and (last_error is not null or send_state in (${sqlList(unclearStates)}))`,
    values: [reference],
  })
  return row?.failure
}
