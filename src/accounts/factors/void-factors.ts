import type { Knex } from 'knex'
import { query } from '../../platform/database/database.js'

/**
 * Removes the second factors that were added at `since` or later: all, if it is not given. For whoever decides above the factors:
 * the proof of the mailbox, the undo of a change of e-mail, an operator. Recovery codes always go: they do not tell when they were
 * made. It mails nothing. Returns how many factors in force were removed.
 */
export async function voidFactors(trx: Knex.Transaction, userId: string, since?: Date): Promise<number> {
  const [removed] = await query<{ count: number }>(trx, {
    name: 'factors.void',
    text: /* sql */ `
      with totp as (
        delete from totp_factors
         where user_id = $1 and greatest(created_at, confirmed_at) >= coalesce($2::timestamptz, '-infinity')
        returning confirmed_at),
      keys as (
        delete from passkeys where user_id = $1 and created_at >= coalesce($2::timestamptz, '-infinity') returning 1),
      codes as (delete from recovery_codes where user_id = $1),
      changed as (
        update users set factors_changed_at = clock_timestamp()
         where id = $1 and (exists (select from totp) or exists (select from keys)))
      select ((select count(*) from totp where confirmed_at is not null) + (select count(*) from keys))::int as count`,
    values: [userId, since ?? null],
  })
  return removed?.count ?? 0
}
