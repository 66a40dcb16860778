import type { Knex } from 'knex'
import { databaseTime } from '../platform/database/base-model.js'
import { voidFactors } from './factors/void-factors.js'
import { voidLinks } from './links/account-link.js'
import { Session, User } from './models.js'

/**
 * Locks an account. What changes its password, its e-mail or its sessions locks it first, so that such changes run one after
 * another, and none overlooks a session that another request opens.
 */
export async function lockUser(trx: Knex.Transaction, userId: string): Promise<User> {
  const user = await User.query(trx).findById(userId).forUpdate()
  if (user === undefined) throw new Error(`There is no user ${userId}`)
  return user
}

/** Ends the sessions of an account with their access tokens, except one. */
export async function endSessions(trx: Knex.Transaction, userId: string, except?: Buffer): Promise<void> {
  const ended = Session.query(trx).delete().where({ user_id: userId })
  await (except === undefined ? ended : ended.whereNot({ token_hash: except }))
}

/**
 * Voids all that opens a locked account, because somebody else may have made it: password, sessions, API keys, second factors
 * and mailed links. The owner signs in with a mailed code.
 */
export async function voidCredentials(trx: Knex.Transaction, userId: string): Promise<void> {
  await User.query(trx).findById(userId).patch({ passwordHash: null, apiKeysVoidBefore: databaseTime })
  await endSessions(trx, userId)
  await voidFactors(trx, userId)
  await voidLinks(trx, userId, ['password_reset', 'email_change'])
}
