import type { Knex } from 'knex'
import { type DomainError, refusedFor } from '../../kernel/errors.js'
import { query, write } from '../../platform/database/database.js'

/** API: five failed attempts at codes of one kind within 15 minutes lock the account's codes of this kind for 15 minutes. */
const mostFailures = 5
const windowMinutes = 15
const lockMinutes = 15

/** Codes whose wrong ones lock the account's codes of this kind: those that are mailed to sign in, and the authenticator app's. */
type Kind = 'sign_in_code' | 'totp'

/**
 * Counts an attempt of `$1` at a code of the kind `$2` as failed, before the code is compared. No row: these codes are locked, the
 * attempt is not counted, and the code must not be compared. The row stays locked until the transaction ends, so attempts on one
 * account run one after another. `failed_at` keeps the newest five times, oldest first. If the oldest of five is recent, all are.
 * `locks`: this attempt locks the codes, unless it is forgotten.
 */
export const countAttempt = /* sql */ `
  insert into code_attempts as a (user_id, kind, failed_at) values ($1, $2, array[clock_timestamp()])
  on conflict (user_id, kind) do update
     set failed_at = a.failed_at[cardinality(a.failed_at) - ${mostFailures - 2}:] || clock_timestamp(),
         locked_until = case
           when a.failed_at[cardinality(a.failed_at) - ${mostFailures - 2}] > clock_timestamp() - interval '${windowMinutes} minutes'
           then clock_timestamp() + interval '${lockMinutes} minutes' end
   where a.locked_until is null or a.locked_until <= clock_timestamp()
  returning locked_until is not null as locks`

/** Removes the attempt that was counted. Call it in the same transaction. */
export async function forgetAttempt(trx: Knex.Transaction, userId: string, kind: Kind): Promise<void> {
  await write(trx, {
    name: 'attempts.uncount',
    text: /* sql */ `
      update code_attempts set failed_at = trim_array(failed_at, 1), locked_until = null where user_id = $1 and kind = $2`,
    values: [userId, kind],
  })
}

/** The refusal while codes are locked. `secondsLeft` 0: they were locked just now. */
export function accountLocked(secondsLeft: number): DomainError {
  return refusedFor('account_locked', secondsLeft || lockMinutes * 60)
}

/** What the lock says of an attempt before its code is compared. */
export type Attempt = { readonly kind: 'counted' } | { readonly kind: 'locked'; readonly seconds: number }

/** Counts an attempt at a code of the authenticator app, as `countAttempt`. */
export async function countTotpAttempt(trx: Knex.Transaction, userId: string): Promise<Attempt> {
  const counted = await query(trx, { name: 'totp.count', text: countAttempt, values: [userId, 'totp'] })
  if (counted.length === 1) return { kind: 'counted' }
  const [lock] = await query<{ seconds: number }>(trx, {
    name: 'totp.locked',
    text: /* sql */ `
      select greatest(1, ceil(extract(epoch from locked_until - clock_timestamp())))::int as seconds
        from code_attempts where user_id = $1 and kind = 'totp'`,
    values: [userId],
  })
  return { kind: 'locked', seconds: lock?.seconds ?? lockMinutes * 60 }
}

/** Forgets the failed attempts at codes of the app, after a right one. */
export async function clearTotpAttempts(trx: Knex.Transaction, userId: string): Promise<void> {
  await write(trx, {
    name: 'totp.clear',
    text: `update code_attempts set failed_at = '{}', locked_until = null where user_id = $1 and kind = 'totp'`,
    values: [userId],
  })
}
