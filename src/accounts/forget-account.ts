import { randomBytes } from 'node:crypto'
import type { Knex } from 'knex'
import { DomainError } from '../kernel/errors.js'
import { databaseTime } from '../platform/database/base-model.js'
import { write } from '../platform/database/database.js'
import { lockUser } from './account.js'
import { User } from './models.js'

/** What a closed account is called in the rows that stay. */
const closedName = 'Closed account'

/** Locks an account as `lockUser` does. Returns its e-mail. Throws `unauthorized` for one that is closed already. */
export async function lockForClosing(trx: Knex.Transaction, userId: string): Promise<string> {
  const { email, closedAt } = await lockUser(trx, userId)
  if (closedAt !== null) throw new DomainError('unauthorized')
  return email
}

/** The delete statement of each table with rows about a person. Access tokens are deleted with their sessions. */
const statements = {
  sessions: 'delete from sessions where user_id = $1',
  devices: 'delete from devices where user_id = $1',
  email_changes: 'delete from email_changes where user_id = $1',
  one_time_secrets: 'delete from one_time_secrets where user_id = $1',
  code_attempts: 'delete from code_attempts where user_id = $1',
  totp_factors: 'delete from totp_factors where user_id = $1',
  recovery_codes: 'delete from recovery_codes where user_id = $1',
  passkeys: 'delete from passkeys where user_id = $1',
  payout_wallets: 'delete from payout_wallets where user_id = $1',
} as const

/**
 * Makes an account one of nobody: who it was is deleted, its id stays, which the ledger, tips and withdrawals name. So does the
 * wallet with its sealed key: it may still receive tips. The address can register anew.
 */
export async function forgetAccount(trx: Knex.Transaction, userId: string): Promise<void> {
  for (const [table, text] of Object.entries(statements))
    await write(trx, { name: `accounts.forget-${table}`, text, values: [userId] })
  await User.query(trx)
    .patch({
      // Nobody has it and nobody guesses it: `.invalid` is reserved (RFC 2606).
      email: `closed-${randomBytes(16).toString('hex')}@closed.invalid`,
      name: closedName,
      passwordHash: null,
      emailVerifiedAt: null,
      solDomain: null,
      solDomainOwner: null,
      twitterHandle: null,
      discordHandle: null,
      settings: {},
      registeredNetwork: null,
      tipMails: 'off',
      closedAt: databaseTime,
    })
    .findById(userId)
}
