import { query } from '../platform/database/database.js'
import type { Services } from '../services.js'

/** Rows of one kind in one run, so that a run after a long pause is no heavier than any other. */
const mostRows = 5000

/** What nobody can use any more, and why. Each statement takes the number of rows and returns those it deleted. */
const leftovers = {
  // A session goes only when its access token is dead as well: deleting it would revoke the token.
  sessions: /* sql */ `
    delete from sessions where token_hash in (
      select s.token_hash from sessions s
       where least(s.idle_until, s.absolute_until) < now() - interval '1 day'
         and not exists (
           select from access_tokens a where a.session_hash = s.token_hash and a.expires_at > now())
       limit $1 for update skip locked)
    returning 1`,
  // A day is longer than codes, failed attempts and locks live.
  otp_codes: /* sql */ `
    delete from otp_codes where user_id in (
      select user_id from otp_codes where changed_at < now() - interval '1 day'
       limit $1 for update skip locked)
    returning 1`,
  // What was sent when, without its content, is kept for questions from people who miss a mail.
  emails: /* sql */ `
    delete from emails where id in (
      select id from emails where due_at is null and created_at < now() - interval '30 days'
       limit $1 for update skip locked)
    returning 1`,
} as const

/** Deletes what has long expired, a bounded number of rows at a time. Any number of clocks may do so at once. */
export async function deleteExpired({ db, log }: Pick<Services, 'db' | 'log'>): Promise<void> {
  for (const [table, text] of Object.entries(leftovers)) {
    const deleted = await query(db, { name: `clean_up_${table}`, text, values: [mostRows] })
    if (deleted.length > 0) log.info({ table, rows: deleted.length }, 'cleaned up')
  }
}
