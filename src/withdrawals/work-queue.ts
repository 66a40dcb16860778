import type { Knex } from 'knex'
import { query } from '../platform/database/database.js'
import type { Services } from '../services.js'
import type { SendState, WithdrawalStatus } from './lifecycle.js'

/** Withdrawals of one batch; the provider is asked about all of them at once. */
const batch = 16
/** What is kept of an error. */
export const lastErrorLength = 200

/** A withdrawal whose turn it is to be sent. */
export interface DuePayout {
  readonly id: string
  readonly reference: string
  readonly providerReference: string
  readonly sendState: SendState
  readonly netKobo: bigint
  readonly bankCode: string
  readonly accountNumber: string
  readonly accountName: string
  readonly recipient: string | null
  readonly resolvedName: string | null
  /** The fence: whoever claims it next has another number. */
  readonly attempts: number
}

type Needs = Pick<Services, 'db' | 'config'>

/**
 * Takes what is to be sent. What was not finished when its lease ends is due again: its worker died. `now()`, not
 * `clock_timestamp()`, in the condition: only a stable bound can use the index of due rows.
 */
export function takePayoutsToSend({ db, config }: Needs): Promise<DuePayout[]> {
  return query<DuePayout>(db, {
    name: 'payouts.claim',
    text: /* sql */ `
      with due as (
        select id from withdrawals
        where due_at <= now() and status = 'pending' and send_state in ('not_sent', 'resend')
        order by due_at limit $1 for update skip locked)
      update withdrawals w set due_at = clock_timestamp() + $2::float8 * interval '1 second', attempts = attempts + 1
        from due where w.id = due.id
      returning w.id, w.reference, w.provider_reference as "providerReference", w.send_state as "sendState",
        w.net_kobo as "netKobo", w.bank_code as "bankCode", w.account_number as "accountNumber",
        w.account_name as "accountName", w.recipient_code as recipient, w.resolved_name as "resolvedName", w.attempts`,
    values: [batch, config.payouts.leaseSeconds],
  })
}

/** A withdrawal the provider is to be asked about. */
export interface DueReconciliation {
  readonly id: string
  readonly reference: string
  readonly providerReference: string
  readonly status: WithdrawalStatus
  readonly attempts: number
  readonly looks: number
}

/** Takes what the provider is to be asked about; leased like what is to be sent. */
export function takePayoutsToReconcile({ db, config }: Needs): Promise<DueReconciliation[]> {
  return query<DueReconciliation>(db, {
    name: 'payouts.claim-to-ask',
    text: /* sql */ `
      with due as (
        select id from withdrawals
        where due_at <= now() and send_state in ('sending', 'unknown', 'sent', 'manual_review', 'refused')
        order by due_at limit $1 for update skip locked)
      update withdrawals w set due_at = clock_timestamp() + $2::float8 * interval '1 second', attempts = attempts + 1
        from due where w.id = due.id
      returning w.id, w.reference, w.provider_reference as "providerReference", w.status, w.attempts, w.looks`,
    values: [batch, config.payouts.leaseSeconds],
  })
}

/**
 * Lets the reconciler ask about a withdrawal now, by the provider's reference. One that is just being sent is left alone.
 * False when there is nothing to ask.
 */
export async function reconcileNow(
  { db, wake }: Pick<Services, 'db' | 'wake'>,
  providerReference: string,
): Promise<boolean> {
  const rows = await query(db, {
    name: 'payouts.ask-now',
    text: /* sql */ `
      update withdrawals set due_at = clock_timestamp()
      where provider_reference = $1 and send_state in ('unknown', 'sent', 'manual_review', 'refused') returning id`,
    values: [providerReference],
  })
  if (rows.length > 0) wake('reconciler')
  return rows.length > 0
}

/** Says when a withdrawal is due again; null: never. Fenced: one that was claimed since is left to whoever did. */
export async function reschedule(
  db: Knex,
  { id, attempts }: Pick<DueReconciliation, 'id' | 'attempts'>,
  seconds: number | null,
  error: string | null,
): Promise<void> {
  await query(db, {
    name: 'payouts.put-off',
    text: /* sql */ `
      update withdrawals
      set due_at = clock_timestamp() + $3::float8 * interval '1 second', looks = looks + 1, last_error = $4
      where id = $1 and attempts = $2`,
    values: [id, attempts, seconds, error?.slice(0, lastErrorLength) ?? null],
  })
}
