import type { Knex } from 'knex'
import { query } from '../../platform/database/database.js'
import type { ChainTransaction } from '../../ports/chain.js'
import { findAlteredSwaps } from './find-altered-swaps.js'
import type { MatchableIntent } from './match-tip.js'

/** What our database has about one transaction: the intents it may pay, and the creators it may have paid. */
export interface MatchContext {
  readonly intents: readonly MatchableIntent[]
  readonly creators: ReadonlySet<string>
}

interface IntentRow extends MatchableIntent {
  readonly referenceKey: string | null
  readonly messageHash: string | null
}

/**
 * Reads the matching intents and creators for all transactions, with one query each. A plain transfer into an existing
 * token account names only that account, so the owners of token accounts count as named too.
 */
export async function loadMatchContext(
  db: Knex,
  transactions: readonly ChainTransaction[],
): Promise<(transaction: ChainTransaction) => MatchContext> {
  if (transactions.length === 0) return () => ({ intents: [], creators: new Set() })
  const named = [...new Set(transactions.flatMap(namedIn))]
  const hashes = transactions.map(({ messageHash }) => Buffer.from(messageHash, 'hex'))
  const stored = await readIntents(db, named, hashes)
  const wallets = new Set(await readWallets(db, named))
  const byKeyOrHash = new Map<string, IntentRow>()
  for (const intent of stored)
    for (const key of [intent.referenceKey, intent.messageHash])
      if (key !== null) byKeyOrHash.set(key, intent)
  const intentsIn = (transaction: ChainTransaction): MatchableIntent[] =>
    [transaction.messageHash, ...namedIn(transaction)].flatMap((key) => byKeyOrHash.get(key) ?? [])
  const unmatched = transactions.filter((transaction) => intentsIn(transaction).length === 0)
  const alteredSwapsIn = await findAlteredSwaps(db, unmatched)
  return (transaction) => {
    const names = namedIn(transaction)
    const intents = intentsIn(transaction)
    return {
      intents: intents.length > 0 ? intents : alteredSwapsIn(transaction),
      creators: new Set(names.filter((name) => wallets.has(name))),
    }
  }
}

function namedIn({ accounts, tokens }: ChainTransaction): string[] {
  return [...new Set([...accounts, ...tokens.flatMap(({ ownerAfter }) => ownerAfter ?? [])])]
}

function readIntents(db: Knex, named: readonly string[], hashes: readonly Buffer[]): Promise<IntentRow[]> {
  return query<IntentRow>(db, {
    name: 'tips.match-intents',
    text: /* sql */ `
      select id, payout_wallet as "payoutWallet", source_wallet as "sourceWallet", input_mint as "inputMint",
             output_mint as "outputMint", reference_key as "referenceKey", encode(message_hash, 'hex') as "messageHash"
      from payment_intents where reference_key = any($1::text[]) or message_hash = any($2::bytea[])
      order by created_at`,
    values: [named, hashes],
  })
}

async function readWallets(db: Knex, named: readonly string[]): Promise<string[]> {
  const rows = await query<{ wallet: string }>(db, {
    name: 'tips.match-wallets',
    text: 'select public_key as wallet from wallets where public_key = any($1::text[])',
    values: [named],
  })
  return rows.map(({ wallet }) => wallet)
}
