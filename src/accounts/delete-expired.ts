import { query } from '../platform/database/database.js'
import type { Services } from '../services.js'

/** Rows per table and run. The bound keeps a run after a long pause as short as any other. */
const mostRows = 5000

/** The delete statement of each table. `$1` is the largest number of rows; each deleted row is returned. */
const statements = {
  // A session stays until its access tokens have expired too: deleting it would revoke them.
  sessions: /* sql */ `
    delete from sessions where token_hash in (
      select s.token_hash from sessions s
       where least(s.idle_until, s.absolute_until) < now() - interval '1 day'
         and not exists (
           select from access_tokens a where a.session_hash = s.token_hash and a.expires_at > now())
       limit $1 for update skip locked)
    returning 1`,
  // Locks and what is counted last less than a day.
  code_attempts: /* sql */ `
    delete from code_attempts where (user_id, kind) in (
      select user_id, kind from code_attempts
       where coalesce(failed_at[cardinality(failed_at)], '-infinity') < now() - interval '1 day'
       limit $1 for update skip locked)
    returning 1`,
  one_time_secrets: /* sql */ `
    delete from one_time_secrets where id in (
      select id from one_time_secrets where expires_at < now() - interval '1 day'
       limit $1 for update skip locked)
    returning 1`,
  // As long as browsers keep the cookie.
  devices: /* sql */ `
    delete from devices where (user_id, device_hash) in (
      select user_id, device_hash from devices where last_seen_at < now() - interval '400 days'
       limit $1 for update skip locked)
    returning 1`,
  // One that was undone stays: it voids API keys (creators/api-keys.ts).
  email_changes: /* sql */ `
    delete from email_changes where id in (
      select id from email_changes where undone_at is null and undo_until < now() - interval '1 day'
       limit $1 for update skip locked)
    returning 1`,
} as const

/** Deletes what has expired of sessions, secrets and devices, a bounded number of rows per run. Safe to run in parallel. */
export async function deleteExpired({ db, log }: Pick<Services, 'db' | 'log'>): Promise<void> {
  for (const [table, text] of Object.entries(statements)) {
    const deleted = await query(db, { name: `expired.${table}`, text, values: [mostRows] })
    if (deleted.length > 0) log.info({ table, rows: deleted.length }, 'deleted expired rows')
  }
}
