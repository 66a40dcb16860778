import type { MatchableIntent } from './match-tip.js'

/** A matchable intent as the database has it. */
export interface MatchableRow extends Omit<MatchableIntent, 'leastRaw' | 'isCertain'> {
  readonly leastRaw: string
}

export const matchableColumns = /* sql */ `
  id, payout_wallet as "payoutWallet", creator_wallet as "custodyWallet", source_wallet as "sourceWallet", input_mint as "inputMint",
  output_mint as "outputMint", least_raw as "leastRaw", message`

export function matchable<Row extends MatchableRow>(row: Row, isCertain: boolean): Row & MatchableIntent {
  return { ...row, leastRaw: BigInt(row.leastRaw), isCertain } as unknown as Row & MatchableIntent
}
