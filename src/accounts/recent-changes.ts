import type { Knex } from 'knex'
import { query } from '../platform/database/database.js'

/** So long a change of the e-mail can be undone, and money moves only with a confirmation after a change of e-mail or factors. */
export const cautionHours = 72

export interface RecentChanges {
  readonly email: string
  /** Where codes for money go: the oldest address that can still be restored, else the current one. */
  readonly moneyEmail: string
  /** The e-mail or a second factor was changed in the last 72 hours. */
  readonly changed: boolean
}

/** What was changed lately that a thief would change first. */
export async function readRecentChanges(db: Knex, userId: string): Promise<RecentChanges> {
  const [row] = await query<RecentChanges>(db, {
    name: 'accounts.recent-changes',
    text: /* sql */ `
      select u.email, coalesce(
          (select old_email from email_changes
            where user_id = $1 and undone_at is null and undo_until > clock_timestamp() order by changed_at, id limit 1),
          u.email) as "moneyEmail",
        coalesce(u.factors_changed_at > clock_timestamp() - $2::int * interval '1 hour', false)
        or exists (
          select from email_changes
           where user_id = $1 and changed_at > clock_timestamp() - $2::int * interval '1 hour') as changed
      from users u where u.id = $1`,
    values: [userId, cautionHours],
  })
  if (row === undefined) throw new Error(`There is no user ${userId}`)
  return row
}
