import type { Knex } from 'knex'
import { type Token, tokenBySymbol } from '../../kernel/tokens.js'
import { platformAccount, transferEntries, userAccount } from '../../ledger/accounts.js'
import { findTransfer } from '../../ledger/find-transfer.js'
import { releasePending, reserveMany, voidReserved } from '../../ledger/transfers.js'
import { query } from '../../platform/database/database.js'

/** What a confirmed tip brought, base units. */
export interface TipCredit {
  readonly id: string
  readonly recipient: string
  readonly token: Token
  readonly received: bigint
}

const usdc = tokenBySymbol('USDC')

/** The ledger's key of a tip: whatever happens, one credit for one signature. */
function creditKey(tipId: string): string {
  return `tip:${tipId}`
}

/**
 * Credits creators, as pending, with the USDC that arrived in a wallet whose key we hold. Nothing else can be paid
 * out from here: other tokens are not USDC, and of other wallets we have no key.
 */
export async function creditTips(trx: Knex, arrivals: readonly TipCredit[]): Promise<void> {
  const inUsdc = arrivals.filter(({ token }) => token === usdc)
  if (inUsdc.length === 0) return
  const owners = await ownersOf(trx, [...new Set(inUsdc.map(({ recipient }) => recipient))])
  const movements = inUsdc.flatMap(({ id, recipient, received }) => {
    const userId = owners.get(recipient)
    if (userId === undefined) return []
    const entries = transferEntries(
      received,
      platformAccount('chain_clearing', 'USDC'),
      userAccount(userId, 'pending', 'USDC'),
    )
    return [{ key: creditKey(id), ref: id, entries }]
  })
  await reserveMany(trx, movements)
}

/** Makes the credits of finalized tips available. Tips that were not credited are passed over. */
export async function releaseTipCredits(trx: Knex, tipIds: readonly string[]): Promise<void> {
  await releasePending(trx, tipIds.map(creditKey))
}

/** Takes back the pending credit of a tip that has vanished, if it was credited. */
export async function voidTipCredit(trx: Knex, tipId: string): Promise<void> {
  const key = creditKey(tipId)
  if ((await findTransfer(trx, key)) !== undefined) await voidReserved(trx, key)
}

/** A wallet has its public key only together with the sealed secret (migration 0001). */
async function ownersOf(trx: Knex, wallets: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const rows = await query<{ wallet: string; userId: string }>(trx, {
    name: 'tips.owners',
    text: 'select public_key as wallet, user_id as "userId" from wallets where public_key = any($1::text[])',
    values: [wallets],
  })
  return new Map(rows.map(({ wallet, userId }) => [wallet, userId]))
}
