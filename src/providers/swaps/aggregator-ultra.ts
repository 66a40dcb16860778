import { z } from 'zod'
import { ProviderError } from '../../kernel/provider-error.js'
import type { Chain } from '../../ports/chain.js'
import { type SwapEngine, type SwapOffer, type SwapRequest, transactionBytesMax } from '../../ports/swaps.js'
import { ask, type EngineOptions, noRoute, numeric, percent, units } from './wire.js'

/** Market makers of `jupiterz` sign too; the other two use programs of their own, which are not known here. */
const excludedRouters = 'jupiterz,dflow,okx'
/** A partner's fee in basis points, as far as the engine takes one. */
const referralFee = { least: 50, most: 255 }
/** A block height this far beyond what is possible now is a mistake (blockhashes live 150 blocks). */
const aheadMax = 300

const order = z.object({
  inputMint: z.string(),
  outputMint: z.string(),
  inAmount: units,
  outAmount: units,
  // Percent, a loss negative; the older field says the same as a fraction.
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
  /** Ours, with token accounts for the fee; without it the engine takes no fee for us. */
  readonly referralAccount: string | undefined
}

/** The engine behind `aggregator-ultra`, in the wire format of Jupiter's Ultra API (`GET /order`). */
export function createAggregatorUltra(options: UltraOptions, chain: Pick<Chain, 'heightFloor'>): SwapEngine {
  return {
    provider: 'aggregator-ultra',
    async offer(request) {
      const query = orderQuery(request, options.referralAccount)
      // Asked for before: whatever block the engine builds on, its transaction lives at least as long.
      const floor = await chain.heightFloor()
      const ordered = await ask(options, `/order?${query}`, order)
      refuseUnusable(ordered, request)
      return offerOf(ordered, floor)
    },
  }
}

function orderQuery(request: SwapRequest, referralAccount: string | undefined): URLSearchParams {
  const { inputMint, outputMint, amount, supporter: taker, recipient: receiver, feeBps } = request
  const query = new URLSearchParams({ inputMint, outputMint, amount: String(amount), taker, receiver })
  query.set('excludeRouters', excludedRouters)
  if (feeBps === 0) return query
  if (referralAccount === undefined || feeBps < referralFee.least || feeBps > referralFee.most)
    throw noRoute('the engine cannot take this fee for us')
  query.set('referralAccount', referralAccount)
  query.set('referralFee', String(feeBps))
  return query
}

/** An order can be priced and still be of no use, and says so in five different ways. */
function refuseUnusable(
  ordered: Order,
  { inputMint, outputMint, amount, supporter, feeBps }: SwapRequest,
): void {
  const { signatureFeePayer } = ordered
  if (ordered.inputMint !== inputMint || ordered.outputMint !== outputMint || ordered.inAmount !== amount)
    throw new ProviderError('ambiguous', 'the engine answered another order')
  if (!ordered.transaction) throw noRoute(`no transaction, error code ${String(ordered.errorCode)}`)
  if (signatureFeePayer != null && signatureFeePayer !== supporter) throw noRoute('somebody else has to sign')
  // Without an account of ours for the token it chooses, the engine drops our fee in silence.
  if (feeBps > 0 && ordered.feeBps !== feeBps)
    throw noRoute(`a fee of ${ordered.feeBps} in place of ${feeBps}`)
}

function offerOf(ordered: Order, floor: number): SwapOffer {
  const impact = ordered.priceImpact ?? (ordered.priceImpactPct ?? Number.NaN) * 100
  if (Number.isNaN(impact)) throw new ProviderError('ambiguous', 'an order without a price impact')
  const transaction = Buffer.from(ordered.transaction ?? '', 'base64')
  if (transaction.length > transactionBytesMax) throw noRoute(`a transaction of ${transaction.length} bytes`)
  return {
    transaction,
    outAmount: ordered.outAmount,
    priceImpactPct: percent(impact),
    lastValidBlockHeight: heightOf(ordered.lastValidBlockHeight, floor),
    referenced: false,
    feeTaken: true,
  }
}

/** The older version of the API tells none, the newer one a text. One that cannot be is not believed. */
function heightOf(told: unknown, floor: number): number {
  const height = numeric.safeParse(told).data ?? 0
  return Number.isSafeInteger(height) && height >= floor && height <= floor + aheadMax ? height : floor
}
