import type { Knex } from 'knex'
import { query } from '../../platform/database/database.js'

/**
 * Removes the second factors that were added at `since` or later: all, if it is not given. Recovery codes always go: they do
 * not tell when they were made.
 */
export async function voidFactors(trx: Knex.Transaction, userId: string, since?: Date): Promise<void> {
  await query(trx, {
    name: 'factors.void',
    text: /* sql */ `
      with totp as (
        delete from totp_factors
         where user_id = $1 and greatest(created_at, confirmed_at) >= coalesce($2::timestamptz, '-infinity') returning 1),
      keys as (
        delete from passkeys where user_id = $1 and created_at >= coalesce($2::timestamptz, '-infinity') returning 1),
      codes as (delete from recovery_codes where user_id = $1)
      update users set factors_changed_at = clock_timestamp()
       where id = $1 and (exists (select from totp) or exists (select from keys))`,
    values: [userId, since ?? null],
  })
}
