import type { Knex } from 'knex'
import { type Token, usdc } from '../../kernel/tokens.js'
import { platformAccount, transferEntries, userAccount } from '../../ledger/accounts.js'
import { releasePending, reserveMany } from '../../ledger/bulk-transfers.js'
import { findTransfer } from '../../ledger/post-statement.js'
import { voidReserved } from '../../ledger/transfers.js'
import { query } from '../../platform/database/database.js'

/** The money of a confirmed tip. */
export interface TipCredit {
  readonly id: string
  /** Null for a transaction that is no tip. */
  readonly recipient: string | null
  readonly token: Token
  /** Micro-USDC by wallet. A wallet that is not in our custody gets no credit. */
  readonly credits: ReadonlyMap<string, bigint>
}

/**
 * The credits of a tip besides its own amount: micro-USDC as decimal text, by wallet. One transaction may pay several
 * creators, and a recipient of SOL may receive USDC too. Undefined when there are none.
 */
export type FurtherCredits = Readonly<Record<string, string>>

/** A stored tip whose credits are resolved. */
export interface CreditedTip {
  readonly id: string
  readonly furtherCredits?: FurtherCredits | null | undefined
}

/**
 * The key of the ledger transfer: one credit per signature and wallet (docs/decisions/0007). `wallet`: one that the tip's
 * transaction paid besides the tip's recipient.
 */
export function creditKey(tipId: string, wallet?: string): string {
  return wallet === undefined ? `tip:${tipId}` : `tip:${tipId}:${wallet}`
}

export function furtherCredits({
  recipient,
  token,
  credits,
}: Omit<TipCredit, 'id'>): FurtherCredits | undefined {
  const further = [...credits].filter(([wallet]) => wallet !== recipient || token !== usdc)
  if (further.length === 0) return undefined
  return Object.fromEntries(further.map(([wallet, amount]) => [wallet, String(amount)]))
}

/**
 * Reserves pending credits for the USDC that arrived in custody wallets. Other tokens and payout wallets get no credit:
 * only USDC is withdrawn, and only from custody wallets.
 */
export async function creditTips(trx: Knex, tips: readonly TipCredit[]): Promise<void> {
  const wallets = new Set(tips.flatMap(({ credits }) => [...credits.keys()]))
  if (wallets.size === 0) return
  const owners = await ownersOf(trx, [...wallets])
  const transfers = tips.flatMap(({ id, recipient, credits }) =>
    [...credits].flatMap(([wallet, amount]) => {
      const userId = owners.get(wallet)
      if (userId === undefined) return []
      const entries = transferEntries(
        amount,
        platformAccount('custody_wallets', 'USDC'),
        userAccount(userId, 'pending', 'USDC'),
      )
      return [{ key: creditKey(id, wallet === recipient ? undefined : wallet), ref: id, entries }]
    }),
  )
  await reserveMany(trx, transfers)
}

/** Makes the credits of finalized tips available. Ignores tips without a credit. */
export async function releaseTipCredits(trx: Knex, tips: readonly CreditedTip[]): Promise<void> {
  await releasePending(trx, tips.flatMap(creditKeys))
}

/** Voids the pending credits of a vanished tip, if it has any. */
export async function voidTipCredits(trx: Knex, tip: CreditedTip): Promise<void> {
  for (const key of creditKeys(tip).sort())
    if ((await findTransfer(trx, key)) !== undefined) await voidReserved(trx, key)
}

/** The keys under which a tip may have credits. */
export function creditKeys({ id, furtherCredits }: CreditedTip): string[] {
  return [creditKey(id), ...Object.keys(furtherCredits ?? {}).map((wallet) => creditKey(id, wallet))]
}

/** The owners of custody wallets. The table refuses a public key without its sealed secret key. */
export async function ownersOf(trx: Knex, wallets: readonly string[]): Promise<Map<string, string>> {
  const rows = await query<{ wallet: string; userId: string }>(trx, {
    name: 'tips.owners',
    text: 'select public_key as wallet, user_id as "userId" from wallets where public_key = any($1::text[])',
    values: [wallets],
  })
  return new Map(rows.map(({ wallet, userId }) => [wallet, userId]))
}
