import { z } from 'zod'
import { displayText } from '../../../../src/kernel/money.js'
import type { LocalChain } from '../../chain/local-chain.js'
import type { PriceFeed } from '../../price-feed.js'
import type { Mode } from '../engine-fault.js'
import { address, EngineError, rawAmount } from '../engine-route.js'
import { priceTrade, type Tradable, type Trade, tradable } from '../market.js'
import { furtherSteps, routePlan } from '../route-plan.js'

const microDecimals = 6
const accountsDefault = 64
const bpsMax = 10_000
const bps = z.coerce.number('Invalid').int('Invalid').min(0, 'Invalid').max(bpsMax, 'Invalid')

/** The query of `GET /quote`. */
export const quoteQuery = z.object({
  inputMint: address,
  outputMint: address,
  amount: rawAmount,
  slippageBps: bps.default(50),
  swapMode: z.enum(['ExactIn', 'ExactOut'], 'Invalid').default('ExactIn'),
  platformFeeBps: bps.default(0),
  maxAccounts: z.coerce.number('Invalid').int('Invalid').min(1, 'Invalid').default(accountsDefault),
  instructionVersion: z.enum(['V1', 'V2'], 'Invalid').default('V1'),
})
type QuoteQuery = z.output<typeof quoteQuery>

/**
 * A quote in the wire format of Jupiter's Swap API v1. The fee is in the output token.
 * @throws EngineError 400 with the engine's code when there is no route
 */
export function quoteJson(chain: LocalChain, prices: PriceFeed, query: QuoteQuery, mode: Mode) {
  const feeBps = mode === 'no-fee' ? 0 : query.platformFeeBps
  const trade = priceQuote(chain, prices, query, feeBps, mode)
  const { input, output, inAmount, outAmount, fee, impact, usdMicro } = trade
  const threshold = (outAmount * BigInt(bpsMax - query.slippageBps)) / BigInt(bpsMax)
  return {
    inputMint: input.mint,
    inAmount: String(inAmount),
    outputMint: output.mint,
    outAmount: String(outAmount),
    otherAmountThreshold: String(threshold),
    swapMode: query.swapMode,
    slippageBps: query.slippageBps,
    platformFee: fee ? { amount: String(fee.amount), feeBps: fee.bps } : null,
    // A fraction in which a loss is positive. Ultra gives percent in which a loss is negative.
    priceImpactPct: displayText(impact, 9),
    routePlan: routePlan(trade, mode === 'oversized' ? furtherSteps(query.maxAccounts) : 0),
    contextSlot: chain.clock.slot,
    timeTaken: 0.001,
    swapUsdValue: displayText(usdMicro, microDecimals),
    simplerRouteUsed: false,
    mostReliableAmmsQuoteReport: { info: {} },
    useIncurredSlippageForQuoting: null,
    otherRoutePlans: null,
    loadedLongtailToken: false,
    instructionVersion: query.instructionVersion,
  }
}

function priceQuote(
  chain: LocalChain,
  prices: PriceFeed,
  { inputMint, outputMint, amount, swapMode }: QuoteQuery,
  feeBps: number,
  mode: Mode,
): Trade {
  if (inputMint === outputMint) {
    throw noQuote('CIRCULAR_ARBITRAGE_IS_DISABLED', 'Input and output mints are not allowed to be equal')
  }
  if (swapMode === 'ExactOut') throw noQuote('NOT_SUPPORTED', 'ExactOut is not supported for this pair')
  const [input, output] = [inputMint, outputMint].map((mint) => requireTradable(chain, prices, mint)) as [
    Tradable,
    Tradable,
  ]
  const trade = priceTrade(input, output, amount, { mint: outputMint, bps: feeBps })
  if (!trade || mode === 'no-route') throw noQuote('COULD_NOT_FIND_ANY_ROUTE', 'Could not find any route')
  return trade
}

function requireTradable(chain: LocalChain, prices: PriceFeed, mint: string): Tradable {
  const token = tradable(chain, prices, mint)
  if (!token) throw noQuote('TOKEN_NOT_TRADABLE', `The token ${mint} is not tradable`)
  return token
}

function noQuote(errorCode: string, error: string): EngineError {
  return new EngineError(400, { error, errorCode })
}
