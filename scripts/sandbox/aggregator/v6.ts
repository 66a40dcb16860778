import { PublicKey } from '@solana/web3.js'
import { z } from 'zod'
import { basisPoints, displayText } from '../../../src/kernel/money.js'
import { solMint } from '../../../src/kernel/tokens.js'
import { associatedAccount } from '../chain/faucet.js'
import type { LocalChain } from '../chain/local-chain.js'
import { json, type SandboxAnswer, type SandboxRequest } from '../http-server.js'
import {
  alterPlan,
  composeSwap,
  type Destination,
  type FeeShare,
  priorityLamports,
  type SwapPlan,
} from './compose-swap.js'
import { address, EngineError, type Market, type Mode, rawAmount, readInput } from './engine.js'
import {
  marketAccounts,
  priceTrade,
  routePlan,
  type Tradable,
  tokenAccountAt,
  tradable,
  tradeJson,
} from './market.js'
import { readOnly } from './swap-program.js'

// The stand-in for the engine behind `aggregator-v6`, in the wire format of Jupiter's Swap API v1.

const routeMax = 10
const bps = z.coerce.number('Invalid').int('Invalid').min(0, 'Invalid').max(10_000, 'Invalid')

const quoteQuery = z.object({
  inputMint: address,
  outputMint: address,
  amount: rawAmount,
  slippageBps: bps.default(50),
  platformFeeBps: bps.default(0),
  maxAccounts: z.coerce.number('Invalid').int('Invalid').min(1, 'Invalid').default(64),
})

/** The quote comes back from the caller. Only the fields used here are checked. */
const swapBody = z.object({
  userPublicKey: address,
  quoteResponse: z.object({
    inputMint: address,
    outputMint: address,
    inAmount: rawAmount,
    outAmount: rawAmount,
    platformFee: z.object({ amount: rawAmount, feeBps: bps }).nullish(),
    routePlan: z
      .array(z.object({ swapInfo: z.object({ ammKey: address }) }))
      .min(1)
      .max(routeMax),
  }),
  feeAccount: address.nullish(),
  trackingAccount: address.nullish(),
  destinationTokenAccount: address.nullish(),
})
type SwapBody = z.output<typeof swapBody>

/** `GET /quote`: a price. The fee is in the output token. */
export function answerQuote(market: Market, request: SandboxRequest, mode: Mode): SandboxAnswer {
  const query = readInput(quoteQuery, request, 'query')
  const feeBps = mode === 'no-fee' ? 0 : query.platformFeeBps
  if (query.inputMint === query.outputMint)
    throw noQuote('CIRCULAR_ARBITRAGE_IS_DISABLED', 'Input and output mints are not allowed to be equal')
  const [input, output] = [traded(market, query.inputMint), traded(market, query.outputMint)]
  const trade = priceTrade(input, output, query.amount, { mint: output.mint, bps: feeBps })
  if (!trade || mode === 'no-route') throw noQuote('COULD_NOT_FIND_ANY_ROUTE', 'Could not find any route')
  return json(200, {
    ...tradeJson(trade, query.slippageBps),
    platformFee: trade.fee ? { amount: String(trade.fee.amount), feeBps: trade.fee.bps } : null,
    // A fraction in which a loss is positive. Ultra gives percent in which a loss is negative.
    priceImpactPct: displayText(trade.impact, 9),
    routePlan: routePlan(trade, mode === 'oversized' ? query.maxAccounts : 0),
    contextSlot: market.chain.clock.slot,
    timeTaken: 0.001,
  })
}

/** `POST /swap`: the transaction of a quote. */
export function answerSwap(market: Market, request: SandboxRequest, mode: Mode): SandboxAnswer {
  const { chain } = market
  const plan = alterPlan(chain, mode, planSwap(market, readInput(swapBody, request, 'body')))
  const { transaction, lastValidBlockHeight } = composeSwap(chain, plan)
  return json(200, {
    swapTransaction: transaction.toString('base64'),
    lastValidBlockHeight,
    prioritizationFeeLamports: priorityLamports,
  })
}

function traded(market: Market, mint: string): Tradable {
  const token = tradable(market, mint)
  if (!token) throw noQuote('TOKEN_NOT_TRADABLE', `The token ${mint} is not tradable`)
  return token
}

function noQuote(errorCode: string, error: string): EngineError {
  return new EngineError({ error, errorCode })
}

function planSwap(market: Market, body: SwapBody): SwapPlan {
  const { inputMint, outputMint, inAmount, outAmount, routePlan: route } = body.quoteResponse
  const user = new PublicKey(body.userPublicKey)
  return {
    user,
    input: traded(market, inputMint),
    output: traded(market, outputMint),
    inAmount,
    outAmount,
    destination: destinationOf(user, body),
    fees: feeShares(market.chain, body),
    extraAccounts: [
      ...(body.trackingAccount ? [readOnly(new PublicKey(body.trackingAccount))] : []),
      ...marketAccounts(route),
    ],
  }
}

/** A named token account must exist. The user's own account is opened. */
function destinationOf(
  user: PublicKey,
  { quoteResponse: { outputMint }, destinationTokenAccount }: SwapBody,
): Destination {
  if (destinationTokenAccount) return { account: new PublicKey(destinationTokenAccount) }
  if (outputMint === solMint) return { wallet: user }
  return { account: associatedAccount(user, outputMint), openFor: user }
}

/** The whole fee goes to the fee account, in that account's token, which can be the input's or the output's. */
function feeShares(chain: LocalChain, { quoteResponse, feeAccount }: SwapBody): FeeShare[] {
  const { platformFee, inputMint, outputMint, inAmount } = quoteResponse
  if (!platformFee) return []
  if (!feeAccount) throw new EngineError({ error: 'feeAccount is required when the quote has a platformFee' })
  const account = new PublicKey(feeAccount)
  const ofInput = tokenAccountAt(chain, account)?.mint === inputMint
  return ofInput
    ? [{ mint: inputMint, account, amount: basisPoints(inAmount, platformFee.feeBps) }]
    : [{ mint: outputMint, account, amount: platformFee.amount }]
}
