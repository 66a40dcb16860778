import { z } from 'zod'
import { ProviderError } from '../../kernel/provider-error.js'
import type { Chain } from '../../ports/chain.js'
import { type SwapEngine, type SwapOffer, type SwapRequest, transactionBytesMax } from '../../ports/swaps.js'
import {
  type EngineOptions,
  leastAmount,
  noRoute,
  numeric,
  percent,
  requestEngine,
  units,
} from '../swaps/engine-request.js'

/** `jupiterz` transactions need a market maker's signature; the other two use programs we do not recognise. */
const excludedRouters = 'jupiterz,dflow,okx'
/** The range of a partner's fee, in basis points, that the engine accepts. */
const referralFee = { min: 50, max: 255 }
/** A last valid height this far above the minimum is a mistake (a blockhash is valid for 150 blocks). */
const maxAhead = 300

const order = z.object({
  inputMint: z.string(),
  outputMint: z.string(),
  inAmount: units,
  outAmount: units,
  otherAmountThreshold: z.unknown().optional(),
  // Percent, negative for a loss. The older field is the same as a fraction.
  priceImpact: numeric.nullish(),
  priceImpactPct: numeric.nullish(),
  feeBps: z.number().nullish(),
  signatureFeePayer: z.string().nullish(),
  transaction: z.string().nullish(),
  lastValidBlockHeight: z.unknown().optional(),
  errorCode: z.unknown().optional(),
})
type Order = z.output<typeof order>

export interface UltraOptions extends EngineOptions {
  /** Our account with token accounts for the fee. Without it the engine takes no fee for us. */
  readonly referralAccount: string | undefined
}

/** The engine behind `aggregator-ultra`, in the wire format of Jupiter's Ultra API (`GET /order`). */
export function createAggregatorUltra(
  options: UltraOptions,
  chain: Pick<Chain, 'minLastValidBlockHeight'>,
): SwapEngine {
  return {
    provider: 'aggregator-ultra',
    async offer(request) {
      const query = orderQuery(request, options.referralAccount)
      // Read first: the engine builds on a later block, so its transaction is valid at least until then.
      const minHeight = await chain.minLastValidBlockHeight()
      const ordered = await requestEngine(options, `/order?${query}`, order)
      refuseUnusable(ordered, request)
      return offerOf(ordered, minHeight)
    },
  }
}

function orderQuery(request: SwapRequest, referralAccount: string | undefined): URLSearchParams {
  const { inputMint, outputMint, amount, supporter: taker, recipient: receiver, feeBps } = request
  const query = new URLSearchParams({ inputMint, outputMint, amount: String(amount), taker, receiver })
  query.set('excludeRouters', excludedRouters)
  if (feeBps === 0) return query
  if (referralAccount === undefined || feeBps < referralFee.min || feeBps > referralFee.max)
    throw noRoute('the engine cannot take this fee for us')
  query.set('referralAccount', referralAccount)
  query.set('referralFee', String(feeBps))
  return query
}

/** An order can have a price and still be unusable. */
function refuseUnusable(
  ordered: Order,
  { inputMint, outputMint, amount, supporter, feeBps }: SwapRequest,
): void {
  const { signatureFeePayer } = ordered
  if (ordered.inputMint !== inputMint || ordered.outputMint !== outputMint || ordered.inAmount !== amount)
    throw new ProviderError('ambiguous', 'the engine answered another order')
  if (!ordered.transaction) throw noRoute(`no transaction, error code ${String(ordered.errorCode)}`)
  if (signatureFeePayer != null && signatureFeePayer !== supporter) throw noRoute('a second signer is needed')
  // The engine silently drops our fee when we have no account for the token it chooses.
  if (feeBps > 0 && ordered.feeBps !== feeBps)
    throw noRoute(`a fee of ${ordered.feeBps} in place of ${feeBps}`)
}

function offerOf(ordered: Order, minHeight: number): SwapOffer {
  const impact = ordered.priceImpact ?? (ordered.priceImpactPct ?? Number.NaN) * 100
  if (Number.isNaN(impact)) throw new ProviderError('ambiguous', 'an order without a price impact')
  const transaction = Buffer.from(ordered.transaction ?? '', 'base64')
  if (transaction.length > transactionBytesMax) throw noRoute(`a transaction of ${transaction.length} bytes`)
  return {
    transaction,
    outAmount: ordered.outAmount,
    leastAmount: leastAmount(ordered.outAmount, ordered.otherAmountThreshold),
    priceImpactPct: percent(impact),
    lastValidBlockHeight: lastValidHeight(ordered.lastValidBlockHeight, minHeight),
    carriesReferenceKey: false,
    includesFee: true,
  }
}

/** Older versions of the engine's API have no height, newer ones write it as text. An impossible height is replaced. */
function lastValidHeight(given: unknown, min: number): number {
  const height = numeric.safeParse(given).data ?? 0
  return Number.isSafeInteger(height) && height >= min && height <= min + maxAhead ? height : min
}
