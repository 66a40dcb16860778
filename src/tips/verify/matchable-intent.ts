import type { MatchableIntent } from './match-tip.js'

/** A matchable intent as the database has it. */
export interface MatchableRow extends Omit<MatchableIntent, 'leastRaw' | 'isCertain'> {
  readonly leastRaw: string
}

/** Swaps created before the slippage was stored with the intent: nine tenths of the quote. */
const leastSql = /* sql */ `
  coalesce(least_raw, case when input_mint = output_mint then expected_raw else greatest(1, trunc(expected_raw * 0.9)) end)`

export const matchableColumns = /* sql */ `
  id, payout_wallet as "payoutWallet", creator_wallet as "custodyWallet", source_wallet as "sourceWallet", input_mint as "inputMint",
  output_mint as "outputMint", ${leastSql} as "leastRaw", message`

export function matchable<Row extends MatchableRow>(row: Row, isCertain: boolean): Row & MatchableIntent {
  return { ...row, leastRaw: BigInt(row.leastRaw), isCertain } as unknown as Row & MatchableIntent
}
