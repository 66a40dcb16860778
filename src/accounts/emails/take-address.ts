import type { Knex } from 'knex'
import { DomainError } from '../../kernel/errors.js'
import { addressHash } from '../../mail/queue-email.js'
import type { Config } from '../../platform/config/config.js'
import { databaseTime } from '../../platform/database/base-model.js'
import { query, write } from '../../platform/database/database.js'
import { User } from '../models.js'
import { voidSignIn } from '../secrets/codes.js'

/** The unique constraint on the address of an account. */
const emailConstraint = 'users_email_key'

/**
 * Gives a locked account an address whose mail the caller has just read. Codes and sign-in links mailed to the address before
 * are void. Throws `email_in_use`.
 */
export async function takeAddress(
  trx: Knex.Transaction,
  config: Pick<Config, 'dataKeys'>,
  userId: string,
  email: string,
): Promise<void> {
  try {
    await User.query(trx).findById(userId).patch({ email, emailVerifiedAt: databaseTime })
  } catch (error) {
    if ((error as { constraint?: unknown }).constraint === emailConstraint)
      throw new DomainError('email_in_use')
    throw error
  }
  await assertNotReserved(trx, email, userId)
  await rememberProven(trx, config, userId, email)
  await voidSignIn(trx, userId)
}

/** Remembers that the owner of an account has read mail to this address, for as long as a debt may be found by it (docs/decisions/0067). */
export async function rememberProven(
  trx: Knex.Transaction,
  { dataKeys }: Pick<Config, 'dataKeys'>,
  userId: string,
  email: string,
): Promise<void> {
  await write(trx, {
    name: 'emails.remember-proven',
    text: 'update users set proven_emails = array_append(array_remove(proven_emails, $2), $2) where id = $1',
    values: [userId, addressHash(dataKeys, email)],
  })
}

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
