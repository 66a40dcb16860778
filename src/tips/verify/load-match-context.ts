import type { Knex } from 'knex'
import { query } from '../../platform/database/database.js'
import type { ChainTransaction } from '../../ports/chain.js'
import { findAlteredSwaps } from './find-altered-swaps.js'
import type { MatchableIntent } from './match-tip.js'

/** What we know of one transaction: intents it carries or pays and wallets of ours it may have paid. */
export interface MatchContext {
  readonly intents: readonly MatchableIntent[]
  readonly creators: ReadonlySet<string>
}

interface IntentRow extends MatchableIntent {
  readonly referenceKey: string | null
  readonly messageHash: string | null
}

/**
 * Reads for all transactions at once which intents were issued as they are and which creators they name. A plain
 * transfer into an existing token account names the account alone, so owners of token accounts count as named.
 */
export async function loadMatchContext(
  db: Knex,
  transactions: readonly ChainTransaction[],
): Promise<(transaction: ChainTransaction) => MatchContext> {
  if (transactions.length === 0) return () => ({ intents: [], creators: new Set() })
  const named = [...new Set(transactions.flatMap(namedBy))]
  const hashes = transactions.map(({ messageHash }) => Buffer.from(messageHash, 'hex'))
  const intents = await readIntents(db, named, hashes)
  const wallets = new Set(await readWallets(db, named))
  const byMark = new Map<string, IntentRow>()
  for (const intent of intents)
    for (const mark of [intent.referenceKey, intent.messageHash]) if (mark !== null) byMark.set(mark, intent)
  const carriedBy = (transaction: ChainTransaction): MatchableIntent[] =>
    [transaction.messageHash, ...namedBy(transaction)].flatMap((mark) => byMark.get(mark) ?? [])
  const unmarked = transactions.filter((transaction) => carriedBy(transaction).length === 0)
  const alteredIn = await findAlteredSwaps(db, unmarked)
  return (transaction) => {
    const names = namedBy(transaction)
    const carried = carriedBy(transaction)
    return {
      intents: carried.length > 0 ? carried : alteredIn(transaction),
      creators: new Set(names.filter((name) => wallets.has(name))),
    }
  }
}

function namedBy({ accounts, tokens }: ChainTransaction): string[] {
  return [...new Set([...accounts, ...tokens.flatMap(({ ownerAfter }) => ownerAfter ?? [])])]
}

function readIntents(db: Knex, named: readonly string[], hashes: readonly Buffer[]): Promise<IntentRow[]> {
  return query<IntentRow>(db, {
    name: 'tips.known-intents',
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
    name: 'tips.known-wallets',
    text: 'select public_key as wallet from wallets where public_key = any($1::text[])',
    values: [named],
  })
  return rows.map(({ wallet }) => wallet)
}
