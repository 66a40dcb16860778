import type { Knex } from 'knex'
import { DomainError } from '../../kernel/errors.js'
import { databaseTime } from '../../platform/database/base-model.js'
import { PayoutWallet } from '../models.js'
import { voidSecrets } from '../secrets/secrets.js'

/** The unique constraint on the wallet. */
const walletConstraint = 'payout_wallets_wallet_key'

/** The payout wallet that a creator has proven. Undefined: none. */
export async function readPayoutWallet(db: Knex, userId: string): Promise<PayoutWallet | undefined> {
  return PayoutWallet.query(db).findById(userId)
}

/**
 * Stores a proven wallet in place of the one before, and uses the challenge up. Tips go on going where they go: to the payout
 * wallet, or to the custody wallet. Throws `payout_wallet_in_use` when it is another creator's. The caller holds the account's lock.
 */
export async function storePayoutWallet(
  trx: Knex.Transaction,
  userId: string,
  wallet: string,
): Promise<PayoutWallet> {
  await voidSecrets(trx, userId, ['payout_wallet'])
  try {
    return await PayoutWallet.query(trx)
      .insert({ userId, wallet, provenAt: databaseTime })
      .onConflict('user_id')
      .merge(['wallet', 'proven_at'])
      .returning('*')
  } catch (error) {
    if ((error as { constraint?: unknown }).constraint === walletConstraint)
      throw new DomainError('payout_wallet_in_use')
    throw error
  }
}

/** Whether new tips go to a creator's payout wallet, and which one it is. */
export interface TipDestination {
  readonly takesTips: boolean
  readonly wallet: string
}

/**
 * Chooses where new tips go. Returns whether that is a change. Throws `payout_wallet_required` when the wallet is not the payout
 * wallet any more. The caller holds the account's lock.
 */
export async function chooseTipsTo(
  trx: Knex.Transaction,
  userId: string,
  { takesTips, wallet }: TipDestination,
): Promise<boolean> {
  const stored = await readPayoutWallet(trx, userId)
  if (stored?.wallet !== wallet) throw new DomainError('payout_wallet_required')
  if (stored.takesTips === takesTips) return false
  await PayoutWallet.query(trx).patch({ takesTips }).findById(userId)
  return true
}

/**
 * Removes the payout wallet, so that new tips go to the custody wallet, and its challenge. `since`: only one that was proven then or
 * later, because somebody else may have set it.
 */
export async function removePayoutWallet(trx: Knex.Transaction, userId: string, since?: Date): Promise<void> {
  await voidSecrets(trx, userId, ['payout_wallet'])
  const wallet = PayoutWallet.query(trx).delete().where({ user_id: userId })
  await (since === undefined ? wallet : wallet.where('proven_at', '>=', since))
}
