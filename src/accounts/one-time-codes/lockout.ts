import type { Knex } from 'knex'
import { type DomainError, refusedFor } from '../../kernel/errors.js'
import { query } from '../../platform/database/database.js'

/** API: five failed attempts within 15 minutes lock the account's codes for 15 minutes (docs/decisions/0026). */
const mostFailures = 5
const windowMinutes = 15
const lockMinutes = 15

/** The account's newest code, to compare an attempt with. */
export interface NewestCode {
  readonly codeHmac: Buffer | null
  readonly expired: boolean
  readonly used: boolean
}

/**
 * Counts an attempt as failed before its code is compared. Returns undefined when the account is locked: the attempt
 * is not counted, and its code must not be compared. The row stays locked until the transaction ends, so attempts on
 * one account run one after another.
 */
export async function countAttempt(trx: Knex.Transaction, userId: string): Promise<NewestCode | undefined> {
  // `failed_at` keeps the newest five times, oldest first. If the oldest of five is recent, all five are.
  const [newest] = await query<NewestCode>(trx, {
    name: 'otp.count',
    text: /* sql */ `
      insert into otp_codes as o (user_id, failed_at) values ($1, array[clock_timestamp()])
      on conflict (user_id) do update
         set failed_at = o.failed_at[cardinality(o.failed_at) - $2::int + 2:] || clock_timestamp(),
             locked_until = case
               when o.failed_at[cardinality(o.failed_at) - $2::int + 2]
                    > clock_timestamp() - $3::int * interval '1 minute'
               then clock_timestamp() + $4::int * interval '1 minute' end,
             changed_at = clock_timestamp()
       where o.locked_until is null or o.locked_until <= clock_timestamp()
      returning code_hmac as "codeHmac", coalesce(expires_at <= clock_timestamp(), true) as expired,
                used_at is not null as used`,
    values: [userId, mostFailures, windowMinutes, lockMinutes],
  })
  return newest
}

/** Removes the attempt that `countAttempt` added. Call it in the same transaction. */
export async function forgetAttempt(trx: Knex.Transaction, userId: string): Promise<void> {
  await query(trx, {
    name: 'otp.uncount',
    text: 'update otp_codes set failed_at = trim_array(failed_at, 1), locked_until = null where user_id = $1',
    values: [userId],
  })
}

/** The refusal while codes are locked. `secondsLeft` 0: they were locked just now. */
export function accountLocked(secondsLeft: number): DomainError {
  return refusedFor('account_locked', secondsLeft || lockMinutes * 60)
}
