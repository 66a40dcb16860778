import { basisPoints, microWorth, picoUsd } from '../../../src/kernel/money.js'
import { solMint, tokenByMint, tokenBySymbol } from '../../../src/kernel/tokens.js'
import type { LocalChain } from '../chain/local-chain.js'
import { readMint, tokenProgram } from '../chain/token-accounts.js'
import type { PriceFeed } from '../price-feed.js'
import { tokenAccountAt } from './accounts.js'
import { vaultOf } from './liquidity.js'
import { pool } from './swap-program.js'

/** A token that can be swapped: the pool holds it and the price feed has its price. */
export interface Tradable {
  readonly mint: string
  readonly decimals: number
  /** Pico-dollars per token. */
  readonly price: bigint
  /** Base units the pool can pay out. */
  readonly reserve: bigint
}

interface Fee {
  readonly mint: string
  readonly bps: number
  /** Base units of `mint`. */
  readonly amount: bigint
}

/** A priced swap. */
export interface Trade {
  readonly input: Tradable
  readonly output: Tradable
  readonly inAmount: bigint
  /** What the receiver gets after all fees. */
  readonly outAmount: bigint
  readonly fee: Fee | undefined
  /** The loss caused by the size of the trade, in billionths. */
  readonly impact: bigint
  /** Worth of the input in micro-dollars. */
  readonly usdMicro: bigint
}

const billion = 10n ** 9n
const poolFeeBps = 5
/** The value of one side of every pool. A trade of 10,000 dollars moves the price by 0.2 %. */
const liquidityMicroUsd = 5_000_000n * 10n ** 6n
const microUsdMax = liquidityMicroUsd
const liquidStakingToken = tokenBySymbol('JitoSOL')?.mint

/** The token with this mint if the pool trades it. */
export function tradable(chain: LocalChain, prices: PriceFeed, mint: string): Tradable | undefined {
  const price = picoUsd(prices.usd(mint))
  const account = chain.svm.account(mint)
  const decimals = account?.owner === tokenProgram ? readMint(account)?.decimals : undefined
  const vault = tokenAccountAt(chain, vaultOf(mint))
  if (price === undefined || decimals === undefined || vault === undefined) return undefined
  const tokens = BigInt(vault.uiTokenAmount.amount)
  const lamports = chain.svm.account(pool.toBase58())?.lamports ?? 0n
  // SOL is paid out native or wrapped, and there must be enough of both.
  const reserve = mint === solMint && lamports < tokens ? lamports : tokens
  return { mint, decimals, price, reserve }
}

/**
 * Prices a swap of base units. The fee is taken from the side with its mint. `undefined`: the output would be nothing, or
 * more than the pool holds.
 */
export function priceTrade(
  input: Tradable,
  output: Tradable,
  inAmount: bigint,
  feeTerms: { readonly mint: string; readonly bps: number },
): Trade | undefined {
  const usdMicro = microWorth(inAmount, input.decimals, input.price)
  if (usdMicro > microUsdMax) return undefined
  const impact = (usdMicro * billion) / (usdMicro + liquidityMicroUsd)
  const ofInput = feeTerms.mint === input.mint
  const inFee = ofInput ? basisPoints(inAmount, feeTerms.bps) : 0n
  const gross = converted(input, output, inAmount - inFee, impact)
  const outFee = ofInput ? 0n : basisPoints(gross, feeTerms.bps)
  const outAmount = gross - outFee
  if (outAmount <= 0n || gross >= output.reserve) return undefined
  const fee = feeTerms.bps > 0 ? { ...feeTerms, amount: inFee + outFee } : undefined
  return { input, output, inAmount, outAmount, fee, impact, usdMicro }
}

/** The token of an Ultra order's fee: SOL before stablecoins before liquid staking tokens before the rest. */
export function feeMintOf(input: Tradable, output: Tradable): string {
  return rank(input.mint) < rank(output.mint) ? input.mint : output.mint
}

/** Ultra's own fee in basis points, which it takes when there is no partner fee. */
export function ownFeeBps(input: Tradable, output: Tradable): number {
  const [least = 0, most = 0] = [rank(input.mint), rank(output.mint)].sort()
  if (least === most && least > 0 && least < 3) return 0
  if (least === 0 && most === 1) return 2
  return least === 1 && most === 2 ? 5 : 10
}

function rank(mint: string): number {
  if (mint === solMint) return 0
  if (tokenByMint(mint)?.stable) return 1
  return mint === liquidStakingToken ? 2 : 3
}

function converted(input: Tradable, output: Tradable, units: bigint, impact: bigint): bigint {
  const fair =
    (units * input.price * 10n ** BigInt(output.decimals)) / (output.price * 10n ** BigInt(input.decimals))
  const afterImpact = (fair * (billion - impact)) / billion
  return afterImpact - basisPoints(afterImpact, poolFeeBps)
}
