import type { Knex } from 'knex'
import { type Token, tokenBySymbol } from '../../kernel/tokens.js'
import { platformAccount, transferEntries, userAccount } from '../../ledger/accounts.js'
import { releasePending, reserveMany } from '../../ledger/bulk-transfers.js'
import { findTransfer } from '../../ledger/find-transfer.js'
import { voidReserved } from '../../ledger/transfers.js'
import { query } from '../../platform/database/database.js'

/** The amount a confirmed tip received, in base units. */
export interface TipCredit {
  readonly id: string
  readonly recipient: string
  readonly token: Token
  readonly received: bigint
}

const usdc = tokenBySymbol('USDC')

/** The key of the ledger transfer: one credit per signature. */
function creditKey(tipId: string): string {
  return `tip:${tipId}`
}

/**
 * Reserves pending credits for the USDC that arrived in custody wallets. Other tokens and payout wallets get no credit:
 * only USDC is withdrawn, and only from custody wallets.
 */
export async function creditTips(trx: Knex, credits: readonly TipCredit[]): Promise<void> {
  const inUsdc = credits.filter(({ token }) => token === usdc)
  if (inUsdc.length === 0) return
  const owners = await ownersOf(trx, [...new Set(inUsdc.map(({ recipient }) => recipient))])
  const transfers = inUsdc.flatMap(({ id, recipient, received }) => {
    const userId = owners.get(recipient)
    if (userId === undefined) return []
    const entries = transferEntries(
      received,
      platformAccount('chain_clearing', 'USDC'),
      userAccount(userId, 'pending', 'USDC'),
    )
    return [{ key: creditKey(id), ref: id, entries }]
  })
  await reserveMany(trx, transfers)
}

/** Makes the credits of finalized tips available. Ignores tips without a credit. */
export async function releaseTipCredits(trx: Knex, tipIds: readonly string[]): Promise<void> {
  await releasePending(trx, tipIds.map(creditKey))
}

/** Voids the pending credit of a vanished tip, if it has one. */
export async function voidTipCredit(trx: Knex, tipId: string): Promise<void> {
  const key = creditKey(tipId)
  if ((await findTransfer(trx, key)) !== undefined) await voidReserved(trx, key)
}

/** The owners of custody wallets. Every row in `wallets` has its sealed secret key (migration 0001). */
async function ownersOf(trx: Knex, wallets: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const rows = await query<{ wallet: string; userId: string }>(trx, {
    name: 'tips.owners',
    text: 'select public_key as wallet, user_id as "userId" from wallets where public_key = any($1::text[])',
    values: [wallets],
  })
  return new Map(rows.map(({ wallet, userId }) => [wallet, userId]))
}
