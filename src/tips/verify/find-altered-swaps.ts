import type { Knex } from 'knex'
import { engineProgram } from '../../intents/swap/swap-instructions.js'
import { solMint, tokenByMint } from '../../kernel/tokens.js'
import { query } from '../../platform/database/database.js'
import type { ChainTransaction } from '../../ports/chain.js'
import { balanceChange } from './balance-changes.js'
import type { MatchableIntent } from './match-tip.js'

interface Candidate extends MatchableIntent {
  readonly inputRaw: string
  readonly createdAt: Date
}

/** Most a supporter of SOL pays beside the amount: rents of accounts opened on the way, and tips to validators. */
const extraLamports = 10_000_000n
/** Between issuing and landing lie a minute of the block's life and the supporter's hesitation; clocks differ a little. */
const longestMs = 10 * 60_000
const skewMs = 30_000
/** Swaps one look finds candidates for; newer ones first. */
const mostCandidates = 1000

/**
 * Wallets add guard instructions to what they sign. A swap that could carry no reference key has then neither key nor
 * hash to be known by; it is known by who gave exactly the issued amount, to whom, within minutes of the issue. Reads
 * the candidates for all of these transactions at once.
 */
export async function findAlteredSwaps(
  db: Knex,
  transactions: readonly ChainTransaction[],
): Promise<(transaction: ChainTransaction) => MatchableIntent[]> {
  const swaps = transactions.filter(({ accounts, blockTime }) => accounts.has(engineProgram) && blockTime)
  if (swaps.length === 0) return () => []
  const candidates = await readCandidates(db, swaps)
  return (transaction) => candidates.filter((candidate) => fits(candidate, transaction))
}

function fits(candidate: Candidate, transaction: ChainTransaction): boolean {
  const input = tokenByMint(candidate.inputMint)
  const afterMs = (transaction.blockTime?.getTime() ?? Number.NaN) - candidate.createdAt.getTime()
  const timely = afterMs >= -skewMs && afterMs <= longestMs
  if (input === undefined || !timely || !transaction.signers.has(candidate.sourceWallet)) return false
  const beside = -balanceChange(transaction, candidate.sourceWallet, input) - BigInt(candidate.inputRaw)
  return input.mint === solMint ? beside >= 0n && beside <= extraLamports : beside === 0n
}

function readCandidates(db: Knex, swaps: readonly ChainTransaction[]): Promise<Candidate[]> {
  const signers = new Set(swaps.flatMap((swap) => [...swap.signers]))
  const owners = new Set(swaps.flatMap(({ tokens }) => tokens.flatMap(({ ownerAfter }) => ownerAfter ?? [])))
  const oldest = Math.min(...swaps.map(({ blockTime }) => blockTime?.getTime() ?? 0)) - longestMs
  return query<Candidate>(db, {
    name: 'tips.altered-swaps',
    text: /* sql */ `
      select id, payout_wallet as "payoutWallet", source_wallet as "sourceWallet", input_mint as "inputMint",
             output_mint as "outputMint", input_raw as "inputRaw", created_at as "createdAt"
      from payment_intents
      where source_wallet = any($1::text[]) and payout_wallet = any($2::text[]) and reference_key is null
        and created_at >= $3
      order by created_at desc limit ${mostCandidates}`,
    values: [[...signers], [...owners], new Date(oldest)],
  })
}
