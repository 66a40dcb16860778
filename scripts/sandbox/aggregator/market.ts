import { createHash } from 'node:crypto'
import { type AccountMeta, PublicKey } from '@solana/web3.js'
import { basisPoints, microWorth, picoUsd } from '../../../src/kernel/money.js'
import { solMint, tokenByMint, tokenBySymbol } from '../../../src/kernel/tokens.js'
import type { LocalChain } from '../chain/local-chain.js'
import { readMint, readTokenAccount, type TokenAccount, tokenProgram } from '../chain/token-accounts.js'
import type { Market } from './engine.js'
import { vaultOf } from './liquidity.js'
import { pool, readOnly } from './swap-program.js'

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

export interface Trade {
  readonly input: Tradable
  readonly output: Tradable
  readonly inAmount: bigint
  /** What the receiver gets after all fees. */
  readonly outAmount: bigint
  readonly fee: Fee | undefined
  /** The loss caused by the size of the trade, in billionths. */
  readonly impact: bigint
}

const billion = 10n ** 9n
const poolFeeBps = 5
/** The value of one side of every pool. A trade of 10,000 dollars moves the price by 0.2 %. */
const liquidityMicroUsd = 5_000_000n * 10n ** 6n
const liquidStakingToken = tokenBySymbol('JitoSOL')?.mint

export function tokenAccountAt({ svm }: LocalChain, address: PublicKey): TokenAccount | undefined {
  return readTokenAccount(svm.account(address.toBase58()), (mint) => svm.account(mint))
}

export function tradable({ chain, prices }: Market, mint: string): Tradable | undefined {
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
  if (usdMicro > liquidityMicroUsd) return undefined
  const impact = (usdMicro * billion) / (usdMicro + liquidityMicroUsd)
  const ofInput = feeTerms.mint === input.mint
  const inFee = ofInput ? basisPoints(inAmount, feeTerms.bps) : 0n
  const gross = converted(input, output, inAmount - inFee, impact)
  const outFee = ofInput ? 0n : basisPoints(gross, feeTerms.bps)
  const outAmount = gross - outFee
  if (outAmount <= 0n || gross >= output.reserve) return undefined
  const fee = feeTerms.bps > 0 ? { ...feeTerms, amount: inFee + outFee } : undefined
  return { input, output, inAmount, outAmount, fee, impact }
}

function converted(input: Tradable, output: Tradable, units: bigint, impact: bigint): bigint {
  const fair =
    (units * input.price * 10n ** BigInt(output.decimals)) / (output.price * 10n ** BigInt(input.decimals))
  const afterImpact = (fair * (billion - impact)) / billion
  return afterImpact - basisPoints(afterImpact, poolFeeBps)
}

/** The token of an Ultra order's fee: SOL before stablecoins before liquid staking tokens before the rest. */
export function feeMintOf(input: Tradable, output: Tradable): string {
  return rank(input.mint) < rank(output.mint) ? input.mint : output.mint
}

function rank(mint: string): number {
  if (mint === solMint) return 0
  if (tokenByMint(mint)?.stable) return 1
  return mint === liquidStakingToken ? 2 : 3
}

const slippageScale = 10_000n

export function tradeJson({ input, output, inAmount, outAmount }: Trade, slippageBps: number) {
  return {
    inputMint: input.mint,
    inAmount: String(inAmount),
    outputMint: output.mint,
    outAmount: String(outAmount),
    otherAmountThreshold: String((outAmount * (slippageScale - BigInt(slippageBps))) / slippageScale),
    swapMode: 'ExactIn',
    slippageBps,
  }
}

/** Accounts of a route that the lookup table has, and of each further market, which it has not. */
const accountsInTable = 32
const accountsPerMarket = 8
const furtherMax = 4

/** The markets of a route: the pool, and with `accountsMax` as many further ones as use that many accounts. */
export function routePlan({ input, output }: Trade, accountsMax = 0): { swapInfo: { ammKey: string } }[] {
  const further = Math.ceil((accountsMax - accountsInTable) / accountsPerMarket)
  const names = Array.from({ length: Math.max(0, Math.min(furtherMax, further)) }, (_, index) => `${index}`)
  return [pool.toBase58(), ...names.map((name) => derived(name).toBase58())].map((ammKey) => ({
    swapInfo: { ammKey, label: 'Sandbox', inputMint: input.mint, outputMint: output.mint },
  }))
}

export function marketAccounts(route: ReturnType<typeof routePlan>): AccountMeta[] {
  return route
    .slice(1)
    .flatMap(({ swapInfo }) =>
      Array.from({ length: accountsPerMarket }, (_, index) =>
        readOnly(derived(`${swapInfo.ammKey}|${index}`)),
      ),
    )
}

function derived(name: string): PublicKey {
  return new PublicKey(createHash('sha256').update(name).digest())
}
