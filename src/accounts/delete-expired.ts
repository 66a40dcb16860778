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
  // Codes, failed attempts and locks all last less than a day.
  otp_codes: /* sql */ `
    delete from otp_codes where user_id in (
      select user_id from otp_codes where changed_at < now() - interval '1 day'
       limit $1 for update skip locked)
    returning 1`,
  // As long as browsers keep the cookie.
  devices: /* sql */ `
    delete from devices where (user_id, device_hash) in (
      select user_id, device_hash from devices where last_seen_at < now() - interval '400 days'
       limit $1 for update skip locked)
    returning 1`,
  account_links: /* sql */ `
    delete from account_links where token_hash in (
      select token_hash from account_links where expires_at < now() - interval '1 day'
       limit $1 for update skip locked)
    returning 1`,
  passkey_challenges: /* sql */ `
    delete from passkey_challenges where challenge in (
      select challenge from passkey_challenges where expires_at < now() - interval '1 day'
       limit $1 for update skip locked)
    returning 1`,
  // One that was undone stays: it voids API keys (creators/api-keys.ts).
  email_changes: /* sql */ `
    delete from email_changes where id in (
      select id from email_changes where undone_at is null and undo_until < now() - interval '1 day'
       limit $1 for update skip locked)
    returning 1`,
} as const

/** Deletes what has expired of sessions, codes, devices and links, a bounded number of rows per run. Safe to run in parallel. */
export async function deleteExpired({ db, log }: Pick<Services, 'db' | 'log'>): Promise<void> {
  for (const [table, text] of Object.entries(statements)) {
    const deleted = await query(db, { name: `expired.${table}`, text, values: [mostRows] })
    if (deleted.length > 0) log.info({ table, rows: deleted.length }, 'deleted expired rows')
  }
}
