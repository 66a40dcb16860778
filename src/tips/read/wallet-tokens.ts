import { LRUCache, type Perf } from 'lru-cache'
import { displayNumber } from '../../kernel/money.js'
import { tokens, usdc } from '../../kernel/tokens.js'
import { query } from '../../platform/database/database.js'
import type { Services } from '../../services.js'
import type { TokenBalance } from './creator-schemas.js'
import { valueUsd } from './present.js'

type Needs = Pick<Services, 'db' | 'chain'>
type Balances = ReadonlyMap<string, bigint>

/** The ledger says how much USDC is a creator's: of the USDC in the wallet some may be withdrawn already. */
const otherTokens = tokens.filter((token) => token !== usdc)
const mints = otherTokens.map(({ mint }) => mint)
/** A page that is open reads this again and again. */
const cached = { max: 10_000, ttl: 10_000, ttlResolution: 0 }

/** Reads what custody wallets hold besides USDC: tips that cannot be withdrawn to a bank. Empty tokens are left out. */
export function createTokenBalances(
  { db, chain }: Needs,
  clock: Perf = performance,
): (wallet: string) => Promise<TokenBalance[]> {
  const cache = new LRUCache<string, Balances>({
    ...cached,
    perf: clock,
    fetchMethod: (wallet) => chain.walletBalances(wallet, mints),
  })
  return async (wallet) => {
    const balances = await cache.forceFetch(wallet)
    const prices = await query<{ mint: string; usd: string }>(db, {
      name: 'tips.token-prices',
      text: 'select mint, usd from prices where mint = any($1::text[])',
      values: [mints],
    })
    return otherTokens.flatMap(({ symbol, mint, decimals }) => {
      const raw = balances.get(mint) ?? 0n
      const usd = prices.find((price) => price.mint === mint)?.usd ?? null
      const value = valueUsd({ mint, decimals, displayRaw: String(raw), usd })
      return raw === 0n ? [] : [{ symbol, mint, amount: displayNumber(raw, decimals), valueUsd: value }]
    })
  }
}
