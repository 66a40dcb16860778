import type { Knex } from 'knex'
import { query } from '../../platform/database/database.js'

/** What keeps a withdrawal from a verdict; undefined when it has one, or somebody is at it. */
export async function payoutJobFailure(db: Knex, reference: string): Promise<string | undefined> {
  const [row] = await query<{ trouble: string }>(db, {
    name: 'payouts.trouble',
    text: /* sql */ `
      select send_state || ': ' || coalesce(last_error, 'no answer') as trouble from withdrawals
      where reference = $1 and status = 'pending'
        and (last_error is not null or send_state in ('unknown', 'manual_review'))`,
    values: [reference],
  })
  return row?.trouble
}
