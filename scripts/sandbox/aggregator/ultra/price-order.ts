import { PublicKey } from '@solana/web3.js'
import { basisPoints } from '../../../../src/kernel/money.js'
import type { LocalChain } from '../../chain/local-chain.js'
import type { PriceFeed } from '../../price-feed.js'
import { accountOf, tokenAccountAt } from '../accounts.js'
import type { FeeShare } from '../build-swap.js'
import type { Mode } from '../engine-fault.js'
import { EngineError } from '../engine-route.js'
import { engineWallet } from '../liquidity.js'
import { feeMintOf, ownFeeBps, priceTrade, type Trade, tradable } from '../market.js'
import type { OrderQuery } from './order.js'

/** The engine keeps a fifth of a partner fee. The real engine takes it when the fee is claimed, this one in the swap. */
const engineShareBps = 2_000

/**
 * Prices an order. As on mainnet, a partner without an account for the fee's token gets no fee, and only the rate in the
 * answer shows it.
 * @throws EngineError 400 when there is no route
 */
export function priceOrder(chain: LocalChain, prices: PriceFeed, query: OrderQuery, mode: Mode): Trade {
  const input = tradable(chain, prices, query.inputMint)
  const output = tradable(chain, prices, query.outputMint)
  const excluded = query.excludeRouters?.split(',').includes('metis') ?? false
  if (!input || !output || input.mint === output.mint || excluded || mode === 'no-route') throw noQuotes()
  const mint = feeMintOf(input, output)
  const hasPartner = mode !== 'no-fee' && partnerAccount(chain, query, mint) !== undefined
  const bps = hasPartner ? (query.referralFee ?? 0) : ownFeeBps(input, output)
  const trade = priceTrade(input, output, query.amount, { mint, bps })
  if (!trade) throw noQuotes()
  return trade
}

/** Splits the fee between the partner and the engine. */
export function feeShares(chain: LocalChain, query: OrderQuery, { fee }: Trade): FeeShare[] {
  if (!fee) return []
  const { mint, amount, bps } = fee
  const partner = bps === query.referralFee ? partnerAccount(chain, query, mint) : undefined
  const kept = partner ? basisPoints(amount, engineShareBps) : amount
  const own = { mint, account: accountOf(engineWallet(chain), mint), amount: kept }
  return partner ? [{ mint, account: partner, amount: amount - kept }, own] : [own]
}

/** The partner's token account, if it exists. */
function partnerAccount(
  chain: LocalChain,
  { referralAccount }: OrderQuery,
  mint: string,
): PublicKey | undefined {
  if (referralAccount === undefined) return undefined
  const account = accountOf(new PublicKey(referralAccount), mint)
  return tokenAccountAt(chain, account) ? account : undefined
}

function noQuotes(): EngineError {
  return new EngineError(400, { error: 'Failed to get quotes' })
}
