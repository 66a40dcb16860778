import type { Knex } from 'knex'
import { engineProgram } from '../../intents/swap/swap-instructions.js'
import { solMint, tokenByMint } from '../../kernel/tokens.js'
import { query } from '../../platform/database/database.js'
import type { ChainTransaction } from '../../ports/chain.js'
import { balanceChange } from './balance-changes.js'
import type { MatchableIntent } from './match-tip.js'

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

interface MatchableRow extends Omit<MatchableIntent, 'leastRaw' | 'isCertain'> {
  readonly leastRaw: string
}

const matchableColumns = /* sql */ `
  id, payout_wallet as "payoutWallet", creator_wallet as "custodyWallet", source_wallet as "sourceWallet", input_mint as "inputMint",
  output_mint as "outputMint", least_raw as "leastRaw", message`

function matchable<Row extends MatchableRow>(row: Row, isCertain: boolean): Row & MatchableIntent {
  return { ...row, leastRaw: BigInt(row.leastRaw), isCertain } as unknown as Row & MatchableIntent
}

interface CandidateRow extends MatchableRow {
  readonly inputRaw: string
  readonly createdAt: Date
}

type Candidate = CandidateRow & MatchableIntent

/** The most a supporter who pays in SOL spends besides the amount: rent of new accounts, and tips to validators. */
const maxExtraLamports = 10_000_000n
/** From the creation of the intent to the block: a minute for the blockhash, and time for the supporter to sign. */
const maxAgeMs = 10 * 60_000
/** The clocks of the database and the cluster differ a little. */
const skewMs = 30_000
/** Intents one query returns, newest first. */
const maxCandidates = 1000

/**
 * Finds the intents of swaps that a wallet altered, for example by adding guard instructions. Such a swap has a different
 * message hash, and some engines cannot include a reference key. So it is matched by its source and payout wallets,
 * its exact input amount and its time. One query reads the candidates for all transactions.
 */
async function findAlteredSwaps(
  db: Knex,
  transactions: readonly ChainTransaction[],
): Promise<(transaction: ChainTransaction) => MatchableIntent[]> {
  const swaps = transactions.filter(({ accounts, blockTime }) => accounts.has(engineProgram) && blockTime)
  if (swaps.length === 0) return () => []
  const candidates = await readCandidates(db, swaps)
  return (transaction) => candidates.filter((candidate) => isPaidBy(candidate, transaction))
}

function isPaidBy(candidate: Candidate, transaction: ChainTransaction): boolean {
  const input = tokenByMint(candidate.inputMint)
  const afterMs = (transaction.blockTime?.getTime() ?? Number.NaN) - candidate.createdAt.getTime()
  const isRecent = afterMs >= -skewMs && afterMs <= maxAgeMs
  if (input === undefined || !isRecent || !transaction.signers.has(candidate.sourceWallet)) return false
  const extra = -balanceChange(transaction, candidate.sourceWallet, input) - BigInt(candidate.inputRaw)
  return input.mint === solMint ? extra >= 0n && extra <= maxExtraLamports : extra === 0n
}

async function readCandidates(db: Knex, swaps: readonly ChainTransaction[]): Promise<Candidate[]> {
  const signers = new Set(swaps.flatMap((swap) => [...swap.signers]))
  const owners = new Set(swaps.flatMap(({ tokens }) => tokens.flatMap(({ ownerAfter }) => ownerAfter ?? [])))
  const oldest = Math.min(...swaps.map(({ blockTime }) => blockTime?.getTime() ?? 0)) - maxAgeMs
  const rows = await query<CandidateRow>(db, {
    name: 'tips.altered-swaps',
    text: /* sql */ `
      select ${matchableColumns}, input_raw as "inputRaw", created_at as "createdAt"
      from payment_intents
      where source_wallet = any($1::text[]) and payout_wallet = any($2::text[]) and reference_key is null
        and created_at >= $3
      order by created_at desc limit ${maxCandidates}`,
    values: [[...signers], [...owners], new Date(oldest)],
  })
  return rows.map((row) => matchable(row, false))
}
