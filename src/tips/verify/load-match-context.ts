import type { Knex } from 'knex'
import { query } from '../../platform/database/database.js'
import type { ChainTransaction } from '../../ports/chain.js'
import { findAlteredSwaps } from './find-altered-swaps.js'
import type { MatchableIntent } from './match-tip.js'
import { type MatchableRow, matchable, matchableColumns } from './matchable-intent.js'

/** What our database has about one transaction: the intents it may pay, and the creators it may have paid. */
export interface MatchContext {
  readonly intents: readonly MatchableIntent[]
  readonly creators: ReadonlySet<string>
  /** The wallets of their own to which creators have their tips sent, with their custody wallets. */
  readonly payoutWallets: ReadonlyMap<string, string>
  /** Last known prices in USD by mint, as decimal text. */
  readonly prices: ReadonlyMap<string, string>
}

interface IntentRow extends MatchableRow {
  readonly referenceKey: string | null
  readonly messageHash: string | null
}

/**
 * Reads the matching intents, and the creators with the prices, for all transactions with one query each. A plain transfer
 * into an existing token account names only that account, so the owners of token accounts count as named too.
 */
export async function loadMatchContext(
  db: Knex,
  transactions: readonly ChainTransaction[],
): Promise<(transaction: ChainTransaction) => MatchContext> {
  if (transactions.length === 0)
    return () => ({ intents: [], creators: new Set(), payoutWallets: new Map(), prices: new Map() })
  const named = [...new Set(transactions.flatMap(namedIn))]
  const hashes = transactions.map(({ messageHash }) => Buffer.from(messageHash, 'hex'))
  const stored = await readIntents(db, named, hashes)
  const { wallets, payoutWallets, prices } = await readWalletsAndPrices(db, named)
  const byKeyOrHash = new Map<string, MatchableIntent>()
  for (const intent of stored)
    for (const key of [intent.referenceKey, intent.messageHash])
      if (key !== null) byKeyOrHash.set(key, matchable(intent, true))
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
      payoutWallets,
      prices,
    }
  }
}

/** Every wallet a transaction may pay or debit. */
export function namedIn({ accounts, tokens }: ChainTransaction): string[] {
  const owners = tokens.flatMap(({ ownerBefore, ownerAfter }) => [ownerBefore ?? [], ownerAfter ?? []].flat())
  return [...new Set([...accounts, ...owners])]
}

function readIntents(db: Knex, named: readonly string[], hashes: readonly Buffer[]): Promise<IntentRow[]> {
  return query<IntentRow>(db, {
    name: 'tips.match-intents',
    text: /* sql */ `
      select ${matchableColumns}, reference_key as "referenceKey", encode(message_hash, 'hex') as "messageHash"
      from payment_intents where reference_key = any($1::text[]) or message_hash = any($2::bytea[])
      order by created_at`,
    values: [named, hashes],
  })
}

/** Only the few listed tokens have a price, so one query reads both. */
async function readWalletsAndPrices(db: Knex, named: readonly string[]) {
  const rows = await query<{ kind: 'wallet' | 'payout wallet' | 'price'; key: string; value: string }>(db, {
    name: 'tips.match-wallets',
    text: /* sql */ `
      select 'wallet' as kind, public_key as key, '' as value from wallets where public_key = any($1::text[])
      union all
      select 'payout wallet', p.wallet, w.public_key from payout_wallets p join wallets w using (user_id)
      where p.wallet = any($1::text[]) and p.takes_tips and w.public_key is not null
      union all select 'price', mint, usd::text from prices`,
    values: [named],
  })
  const valuesOf = (kind: (typeof rows)[number]['kind']): Map<string, string> =>
    new Map(rows.flatMap((row) => (row.kind === kind ? [[row.key, row.value] as const] : [])))
  return {
    wallets: new Set(valuesOf('wallet').keys()),
    payoutWallets: valuesOf('payout wallet'),
    prices: valuesOf('price'),
  }
}
