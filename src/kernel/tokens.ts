/** A token the service knows by symbol. `decimals`: base units of one token are 10^decimals. */
export interface Token {
  readonly symbol: string
  readonly mint: string
  readonly decimals: number
  /** Worth one US dollar by definition, so it needs no price. */
  readonly stable: boolean
}

/** Native SOL has no mint. Solana tools name it by the mint of wrapped SOL. */
export const solMint = 'So11111111111111111111111111111111111111112'

/**
 * The allow-list of tokens. A symbol means exactly this mint, so a counterfeit token that calls itself USDC is
 * not accepted as USDC. The mints are those of Solana mainnet.
 */
export const tokens: readonly Token[] = [
  { symbol: 'SOL', mint: solMint, decimals: 9, stable: false },
  { symbol: 'USDC', mint: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v', decimals: 6, stable: true },
  { symbol: 'USDT', mint: 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB', decimals: 6, stable: true },
  { symbol: 'BONK', mint: 'DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263', decimals: 5, stable: false },
  { symbol: 'JitoSOL', mint: 'J1toso1uCk3RLmjorhTtrVwY9HJ7X8V9yYac6Y7kGCPn', decimals: 9, stable: false },
]

const byMint = new Map(tokens.map((token) => [token.mint, token]))
const bySymbol = new Map(tokens.map((token) => [token.symbol.toUpperCase(), token]))

/** The only token that is credited, and the one that tips are converted to. */
export const usdc = tokenBySymbol('USDC') as Token
/** What creators with yield routing receive: the only one that earns. */
export const liquidStakingToken = tokenBySymbol('JitoSOL') as Token

/** The known token with this mint, if any. */
export function tokenByMint(mint: string): Token | undefined {
  return byMint.get(mint)
}

/** The known token with this symbol in any case, if any. */
export function tokenBySymbol(symbol: string): Token | undefined {
  return bySymbol.get(symbol.toUpperCase())
}

/** The known tokens as the SQL of a table. */
export const tokensSql = `(values ${tokens
  .map(({ mint, symbol, decimals }) => `('${mint}', '${symbol}', ${decimals})`)
  .join(', ')}) as k (mint, symbol, decimals)`
