import type { Knex } from 'knex'
import { query } from '../platform/db.js'

/** Why a withdrawal that should have been sent has no verdict yet; undefined when it has one, or is gone. */
export async function payoutTrouble(db: Knex, reference: string): Promise<string | undefined> {
  const [row] = await query<{ trouble: string }>(db, {
    name: 'payouts.trouble',
    text: /* sql */ `
      select send_state || ': ' || coalesce(last_error, 'no answer') as trouble from withdrawals
      where reference = $1 and status = 'pending' and send_state <> 'identity_hold'`,
    values: [reference],
  })
  return row?.trouble
}
