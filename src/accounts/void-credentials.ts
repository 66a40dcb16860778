import type { Knex } from 'knex'
import { databaseTime } from '../platform/database/base-model.js'
import { voidFactors } from './factors/void-factors.js'
import { voidLinks } from './links/account-link.js'
import { User } from './models.js'
import { endSessions } from './sessions/end-sessions.js'

/**
 * Voids all that opens an account, because somebody else may have made it: password, sessions, API keys, second factors
 * and mailed links. The owner signs in with a mailed code. The caller holds the account's lock (`lockUser`).
 */
export async function voidCredentials(trx: Knex.Transaction, userId: string): Promise<void> {
  await User.query(trx).findById(userId).patch({ passwordHash: null, apiKeysVoidBefore: databaseTime })
  await endSessions(trx, userId)
  await voidFactors(trx, userId)
  await voidLinks(trx, userId, ['password_reset', 'email_change'])
}
