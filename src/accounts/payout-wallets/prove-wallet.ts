import type { Knex } from 'knex'
import { verifyTextSignature } from '../../kernel/ed25519.js'
import { DomainError, inputError } from '../../kernel/errors.js'
import { hashSecret, newSecret } from '../../kernel/ids.js'
import type { Services } from '../../services.js'
import { lockUserExceptSessions } from '../account.js'
import { PayoutWallet, Wallet } from '../models.js'
import { notifyOwner, type Origin } from '../notify-owner.js'
import { findMessage, purposes, storeSecret } from '../secrets/secrets.js'
import { type PresentedStepUp, withStepUp } from '../step-up/step-up.js'
import { walletNotice } from './mails.js'
import { readPayoutWallet, removePayoutWallet, storePayoutWallet } from './payout-wallet.js'

type Needs = Pick<Services, 'chain' | 'config' | 'db' | 'transact'>

/**
 * Creates the message that a creator signs with a wallet to make it their payout wallet. It replaces the account's previous
 * challenge. The message names account, wallet, site and time, so a signature for another purpose is not valid here. Throws
 * `invalid_wallet`.
 */
export async function createWalletChallenge(
  services: Needs,
  userId: string,
  wallet: string,
): Promise<string> {
  await checkWallet(services, wallet)
  const { config, db } = services
  const message = [
    `${new URL(config.http.publicUrl).host} asks you to make ${wallet} the payout wallet of the account ${userId}.`,
    'Tips and take-outs of that account may then go to this wallet. Signing this moves nothing and costs nothing.',
    `Made at ${new Date().toISOString()}, valid for ${purposes.payout_wallet.minutes} minutes, once. Nonce: ${newSecret()}`,
  ].join('\n\n')
  const challenge = { userId, subject: wallet, hash: hashSecret(message), content: message }
  await storeSecret(db, 'payout_wallet', challenge)
  return message
}

/**
 * Makes a wallet the creator's payout wallet, with a signature of the challenge by that wallet and a step-up, and tells the owner.
 * Throws `invalid_wallet`, `invalid_wallet_signature`, `payout_wallet_in_use` and what `withStepUp` throws.
 */
export async function provePayoutWallet(
  services: Needs,
  userId: string,
  { wallet, signature, ...presented }: PresentedStepUp & ProvenBy,
  origin: Origin,
): Promise<PayoutWallet> {
  const { config, db } = services
  await checkWallet(services, wallet)
  await checkSignature(db, userId, { wallet, signature })
  const other = await PayoutWallet.query(db).findOne({ wallet }).whereNot({ user_id: userId })
  if (other !== undefined) throw new DomainError('payout_wallet_in_use')
  const site = new URL(config.http.publicUrl).host
  const request = {
    userId,
    bound: ['payout-wallet', wallet],
    wish: `make ${wallet} the payout wallet of your account at ${site}, to which your tips and tokens may then be sent`,
  }
  return withStepUp(services, request, presented, async (uow) => {
    // Read again under the lock: of two requests with one signature only one has its challenge.
    await checkSignature(uow.trx, userId, { wallet, signature })
    const stored = await storePayoutWallet(uow.trx, userId, wallet)
    const { takesTips } = stored
    const notice = walletNotice({ kind: 'payout-wallet-set', wallet, takesTips })
    await notifyOwner(uow, config.http.publicUrl, userId, notice, origin)
    return stored
  })
}

/**
 * Removes the payout wallet, and tells the owner. It needs no step-up: whoever has lost the wallet must be fast, and tips then go
 * where money leaves with a confirmation only.
 */
export async function unsetPayoutWallet(services: Needs, userId: string, origin: Origin): Promise<void> {
  const { config, transact } = services
  await transact(async (uow) => {
    await lockUserExceptSessions(uow.trx, userId)
    const stored = await readPayoutWallet(uow.trx, userId)
    if (stored === undefined) return
    await removePayoutWallet(uow.trx, userId)
    const notice = walletNotice({ kind: 'payout-wallet-removed', wallet: stored.wallet })
    await notifyOwner(uow, config.http.publicUrl, userId, notice, origin)
  })
}

interface ProvenBy {
  readonly wallet: string
  /** Base58. */
  readonly signature: string
}

/** Throws `invalid_wallet` for a wallet that is the service's, or that nobody can hold the key of. */
async function checkWallet({ chain, config, db }: Needs, wallet: string): Promise<void> {
  if (wallet === config.tips.treasuryWallet)
    throw inputError('invalid_wallet', 'wallet', 'is the treasury of the service')
  if ((await Wallet.query(db).select('id').findOne({ public_key: wallet })) !== undefined)
    throw inputError('invalid_wallet', 'wallet', 'is a custody wallet: its key is not yours')
  if (!(await chain.isWallet(wallet)))
    throw inputError(
      'invalid_wallet',
      'wallet',
      'is a program, a mint or a token account: nobody has its key',
    )
}

async function checkSignature(db: Knex, userId: string, { wallet, signature }: ProvenBy): Promise<void> {
  const message = await findMessage(db, 'payout_wallet', userId, wallet)
  if (message === undefined || !verifyTextSignature(wallet, message, signature))
    throw new DomainError('invalid_wallet_signature')
}
