import { PublicKey } from '@solana/web3.js'
import { z } from 'zod'
import { basisPoints } from '../../../../src/kernel/money.js'
import { solMint } from '../../../../src/kernel/tokens.js'
import type { LocalChain } from '../../chain/local-chain.js'
import { isTokenProgram } from '../../chain/token-accounts.js'
import type { PriceFeed } from '../../price-feed.js'
import { accountOf, tokenAccountAt } from '../accounts.js'
import { type Destination, type FeeShare, type SwapPlan, unitLimit } from '../build-swap.js'
import { address, EngineError, rawAmount } from '../engine-route.js'
import { tradable } from '../market.js'
import { furtherStepsMax, marketAccounts } from '../route-plan.js'
import { readOnly } from '../swap-program.js'

const lamportsMax = 10 ** 9
const defaultUnitPrice = 1_000
const feeBpsMax = 10_000
const lamports = z.int().nonnegative().max(lamportsMax)

/** The engine's quote, sent back by the caller. Only the fields used here are checked. */
const quote = z.object({
  inputMint: address,
  outputMint: address,
  inAmount: rawAmount,
  outAmount: rawAmount,
  platformFee: z.object({ amount: rawAmount, feeBps: z.int().min(0).max(feeBpsMax) }).nullish(),
  routePlan: z
    .array(z.object({ swapInfo: z.object({ ammKey: address }) }))
    .min(1)
    .max(1 + furtherStepsMax),
  instructionVersion: z.string().nullish(),
})

/** The body of `POST /swap`. */
export const swapBody = z.object({
  userPublicKey: address,
  quoteResponse: quote,
  wrapAndUnwrapSol: z.boolean().nullish(),
  feeAccount: address.nullish(),
  trackingAccount: address.nullish(),
  destinationTokenAccount: address.nullish(),
  nativeDestinationAccount: address.nullish(),
  dynamicComputeUnitLimit: z.boolean().nullish(),
  prioritizationFeeLamports: z
    .union([
      lamports,
      z.literal('auto'),
      z.object({ priorityLevelWithMaxLamports: z.object({ maxLamports: lamports }) }),
      z.object({ jitoTipLamports: lamports }),
    ])
    .nullish(),
})
type SwapBody = z.output<typeof swapBody>

/**
 * Plans the requested swap with the amounts of the quote.
 * @throws EngineError 400 when the parts of the request contradict each other
 */
export function planSwap(chain: LocalChain, prices: PriceFeed, body: SwapBody): SwapPlan {
  const { inputMint, outputMint, inAmount, outAmount, routePlan } = body.quoteResponse
  const input = tradable(chain, prices, inputMint)
  const output = tradable(chain, prices, outputMint)
  if (!input || !output || inputMint === outputMint) throw invalid('the quote is of no pair that is traded')
  const user = new PublicKey(body.userPublicKey)
  const tracking = body.trackingAccount ? [readOnly(new PublicKey(body.trackingAccount))] : []
  return {
    user,
    input,
    output,
    inAmount,
    outAmount,
    destination: destinationOf(chain, user, body),
    fees: feeShares(chain, body),
    wrapSol: body.wrapAndUnwrapSol ?? true,
    unitPrice: unitPriceOf(body.prioritizationFeeLamports),
    extraAccounts: [...tracking, ...marketAccounts(routePlan.map(({ swapInfo }) => swapInfo.ammKey))],
    extraInstructions: [],
  }
}

/** A named token account must exist. The user's own account is opened. */
function destinationOf(chain: LocalChain, user: PublicKey, body: SwapBody): Destination {
  const { quoteResponse, destinationTokenAccount, nativeDestinationAccount } = body
  if (destinationTokenAccount && nativeDestinationAccount) {
    throw invalid('destinationTokenAccount and nativeDestinationAccount are mutually exclusive')
  }
  if (destinationTokenAccount) return { account: new PublicKey(destinationTokenAccount) }
  const sol = quoteResponse.outputMint === solMint
  if (nativeDestinationAccount) {
    const owner = chain.svm.account(nativeDestinationAccount)?.owner ?? ''
    if (!sol || quoteResponse.instructionVersion !== 'V2' || isTokenProgram(owner)) {
      throw invalid('nativeDestinationAccount needs SOL as output, instructionVersion V2 and a wallet')
    }
    return { wallet: new PublicKey(nativeDestinationAccount) }
  }
  if (sol && (body.wrapAndUnwrapSol ?? true)) return { wallet: user }
  return { account: accountOf(user, quoteResponse.outputMint), openFor: user }
}

/** The whole fee goes to the fee account, in that account's token, which can be the input's or the output's. */
function feeShares(chain: LocalChain, { quoteResponse, feeAccount }: SwapBody): FeeShare[] {
  const { platformFee, inputMint, outputMint, inAmount } = quoteResponse
  if (!platformFee) return []
  if (!feeAccount) throw invalid('feeAccount is required when the quote has a platformFee')
  const account = new PublicKey(feeAccount)
  const ofInput = tokenAccountAt(chain, account)?.mint === inputMint
  return ofInput
    ? [{ mint: inputMint, account, amount: basisPoints(inAmount, platformFee.feeBps) }]
    : [{ mint: outputMint, account, amount: platformFee.amount }]
}

function unitPriceOf(requested: SwapBody['prioritizationFeeLamports']): number {
  if (typeof requested === 'number') return Math.floor((requested * 1_000_000) / unitLimit)
  if (requested && typeof requested === 'object' && 'priorityLevelWithMaxLamports' in requested) {
    const { maxLamports } = requested.priorityLevelWithMaxLamports
    return Math.min(defaultUnitPrice, unitPriceOf(maxLamports))
  }
  return defaultUnitPrice
}

function invalid(error: string): EngineError {
  return new EngineError(400, { error })
}
