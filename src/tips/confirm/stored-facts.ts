import type { Knex } from 'knex'
import { type Token, tokenByMint, usdc } from '../../kernel/tokens.js'
import { query } from '../../platform/database/database.js'
import type { Chain, ChainTransaction } from '../../ports/chain.js'
import { amountReceived } from '../verify/balance-changes.js'
import type { FurtherCredits } from './credit-tips.js'

/** What the chain showed of a tip at its confirmation. A transaction has one for each payee. */
export interface StoredFacts {
  /** The signature. */
  readonly id: string
  readonly wallet: string
  readonly mint: string
  readonly received: string
  readonly furtherCredits: FurtherCredits | null
}

export function readStoredFacts(db: Knex, ids: readonly string[]): Promise<StoredFacts[]> {
  return query<StoredFacts>(db, {
    name: 'tips.stored-facts',
    text: `select coalesce(t.main_id, t.id) as id, coalesce(t.paid_wallet, p.wallet) as wallet, t.mint, t.received_raw as received, t.further_credits as "furtherCredits"
           from tips t join parties p on p.id = t.recipient_party where t.id = any($1::text[]) or t.main_id = any($1::text[])`,
    values: [ids],
  })
}

/** Whether the transaction still pays the recipient, and every other wallet that the tip credits, the same amounts. */
export function isUnchanged(
  chain: Pick<Chain, 'associatedAccount'>,
  { wallet, mint, received, furtherCredits }: StoredFacts,
  found: ChainTransaction | undefined,
): boolean {
  if (found?.failed !== false) return false
  const token = tokenByMint(mint) as Token
  return (
    amountReceived(chain, found, wallet, token) === BigInt(received) &&
    Object.entries(furtherCredits ?? {}).every(
      ([further, amount]) => amountReceived(chain, found, further, usdc) === BigInt(amount),
    )
  )
}
