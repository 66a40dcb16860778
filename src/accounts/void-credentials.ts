import type { Knex } from 'knex'
import { databaseTime } from '../platform/database/base-model.js'
import { write } from '../platform/database/database.js'
import { voidFactors } from './factors/change-factors.js'
import { User } from './models.js'
import { removePayoutWallet } from './payout-wallets/payout-wallet.js'
import { voidSecrets } from './secrets/secrets.js'
import { endSessions } from './sessions/end-sessions.js'

/** Forgets the devices that have signed in to an account: a thief's must not count as known. */
export async function forgetDevices(trx: Knex.Transaction, userId: string): Promise<void> {
  await write(trx, {
    name: 'devices.void',
    text: 'delete from devices where user_id = $1',
    values: [userId],
  })
}

/** Ends the account's sessions but one, and its API keys. The caller holds the account's lock (`lockUser`). */
export async function voidOthers(
  trx: Knex.Transaction,
  userId: string,
  carried: Buffer | undefined,
): Promise<void> {
  await User.query(trx).findById(userId).patch({ credentialsVoidBefore: databaseTime })
  await endSessions(trx, userId, carried)
}

/**
 * Voids all that opens an account, because somebody else may have made it: password, sessions, API keys, second factors,
 * known devices, the payout wallet, trusted bank accounts (withdrawals/confirmation/payees.ts) and mailed links. The owner signs in with a mailed
 * code. The caller holds the account's lock (`lockUser`).
 */
export async function voidCredentials(trx: Knex.Transaction, userId: string): Promise<void> {
  await User.query(trx).findById(userId).patch({ passwordHash: null, credentialsVoidBefore: databaseTime })
  await endSessions(trx, userId)
  await forgetDevices(trx, userId)
  await voidFactors(trx, userId)
  await removePayoutWallet(trx, userId)
  await voidSecrets(trx, userId, ['password_reset', 'email_change'])
}
