import type { Knex } from 'knex'
import { engineProgram } from '../../intents/swap/swap-instructions.js'
import { solMint, tokenByMint } from '../../kernel/tokens.js'
import { query } from '../../platform/database/database.js'
import type { ChainTransaction } from '../../ports/chain.js'
import { balanceChange } from './balance-changes.js'
import type { MatchableIntent } from './match-tip.js'
import { type MatchableRow, matchable, matchableColumns } from './matchable-intent.js'

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
export async function findAlteredSwaps(
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
