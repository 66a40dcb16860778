import type { Knex } from 'knex'
import { DomainError } from '../../kernel/errors.js'
import { query } from '../../platform/database/database.js'

/** Whether an address is reserved: an account had it, and may get it back (undo-email.ts). `userId`: the account that asks. */
export async function isReserved(db: Knex, email: string, userId?: string): Promise<boolean> {
  const [row] = await query<{ reserved: boolean }>(db, {
    name: 'emails.reserved',
    text: /* sql */ `
      select exists (
        select from email_changes
         where old_email = $1 and undone_at is null and undo_until > clock_timestamp()
           and user_id is distinct from $2) as reserved`,
    values: [email, userId ?? null],
  })
  return row?.reserved === true
}

/**
 * Throws `email_in_use` for an address that is reserved. Call after the statement that takes the address; earlier, a
 * concurrent change may not be visible yet.
 */
export async function assertNotReserved(trx: Knex.Transaction, email: string, userId: string): Promise<void> {
  if (await isReserved(trx, email, userId)) throw new DomainError('email_in_use')
}
