import type { Knex } from 'knex'
import { DomainError } from '../kernel/errors.js'
import { query } from '../platform/database/database.js'
import { User } from './models.js'

/** A user as its owner may see it: no secrets, and the public key of the custody wallet once that is provisioned. */
export interface Account
  extends Pick<
    User,
    'id' | 'email' | 'name' | 'emailVerifiedAt' | 'solDomain' | 'twitterHandle' | 'discordHandle' | 'frozenAt'
  > {
  readonly walletPublicKey: string | null
}

/** The columns of an account in SQL that names `users` `u` and `wallets` `w`. */
export const accountColumns = /* sql */ `
  u.id, u.email, u.name, u.email_verified_at as "emailVerifiedAt", u.sol_domain as "solDomain",
  u.twitter_handle as "twitterHandle", u.discord_handle as "discordHandle", u.frozen_at as "frozenAt",
  w.public_key as "walletPublicKey"`

/**
 * Locks an account and what refers to it until the transaction ends, before any other row. What changes its password, its e-mail
 * or its sessions locks it so. Such changes run one after another, and a session that another request opens waits for the lock
 * (a row that refers to a user takes a key-share lock on it, which FOR UPDATE blocks): none is overlooked.
 */
export async function lockUser(trx: Knex.Transaction, userId: string): Promise<User> {
  return found(userId, await User.query(trx).findById(userId).forUpdate())
}

/**
 * Locks an account until the transaction ends, before any other row, so that counts and writes for one account run one after
 * another. Sessions and other rows that refer to the user can still be inserted.
 */
export async function lockUserExceptSessions(trx: Knex.Transaction, userId: string): Promise<User> {
  return found(userId, await User.query(trx).findById(userId).forNoKeyUpdate())
}

/**
 * Locks an account in share mode until the transaction ends, before any other row: a freezing or a closing in progress ends first,
 * and a later one waits. Throws `account_frozen`.
 */
export async function shareUnfrozen(trx: Knex, userId: string): Promise<void> {
  const [row] = await query<{ frozen: boolean }>(trx, {
    name: 'accounts.share-unfrozen',
    text: 'select frozen_at is not null as frozen from users where id = $1 for share',
    values: [userId],
  })
  if (row === undefined) throw new DomainError('unauthorized')
  if (row.frozen) throw new DomainError('account_frozen')
}

function found(userId: string, user: User | undefined): User {
  if (user === undefined) throw new Error(`There is no user ${userId}`)
  return user
}
