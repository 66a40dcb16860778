import type { Knex } from 'knex'
import { query } from '../../platform/database/database.js'

/** As of one-time codes (docs/decisions/0026): five wrong codes within 15 minutes lock the authenticator app for 15 minutes. */
const mostFailures = 5
const windowMinutes = 15
const lockMinutes = 15

/** What the lock says of an attempt before its code is compared. */
export type Attempt = { readonly kind: 'counted' } | { readonly kind: 'locked'; readonly seconds: number }

/**
 * Counts an attempt as failed before its code is compared. A locked account's attempt is not counted, and its code must not be
 * compared. The row stays locked until the transaction ends, so attempts on one account run one after another.
 */
export async function countFactorAttempt(trx: Knex.Transaction, userId: string): Promise<Attempt> {
  // `failed_at` keeps the newest five times, oldest first. If the oldest of five is recent, all five are.
  const counted = await query(trx, {
    name: 'factors.count',
    text: /* sql */ `
      insert into factor_attempts as a (user_id, failed_at) values ($1, array[clock_timestamp()])
      on conflict (user_id) do update
         set failed_at = a.failed_at[cardinality(a.failed_at) - $2::int + 2:] || clock_timestamp(),
             locked_until = case
               when a.failed_at[cardinality(a.failed_at) - $2::int + 2]
                    > clock_timestamp() - $3::int * interval '1 minute'
               then clock_timestamp() + $4::int * interval '1 minute' end
       where a.locked_until is null or a.locked_until <= clock_timestamp()
      returning 1`,
    values: [userId, mostFailures, windowMinutes, lockMinutes],
  })
  if (counted.length === 1) return { kind: 'counted' }
  const [lock] = await query<{ seconds: number }>(trx, {
    name: 'factors.locked',
    text: /* sql */ `
      select greatest(1, ceil(extract(epoch from locked_until - clock_timestamp())))::int as seconds
        from factor_attempts where user_id = $1`,
    values: [userId],
  })
  return { kind: 'locked', seconds: lock?.seconds ?? lockMinutes * 60 }
}

/** Removes the attempt that `countFactorAttempt` added. Call it in the same transaction. */
export async function forgetFactorAttempt(trx: Knex.Transaction, userId: string): Promise<void> {
  await query(trx, {
    name: 'factors.uncount',
    text: 'update factor_attempts set failed_at = trim_array(failed_at, 1), locked_until = null where user_id = $1',
    values: [userId],
  })
}

/** Forgets the failed attempts, after a right code. */
export async function clearFactorAttempts(trx: Knex.Transaction, userId: string): Promise<void> {
  await query(trx, {
    name: 'factors.clear',
    text: `update factor_attempts set failed_at = '{}', locked_until = null where user_id = $1`,
    values: [userId],
  })
}
