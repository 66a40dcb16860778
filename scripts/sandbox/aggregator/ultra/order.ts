import { randomUUID } from 'node:crypto'
import type { PublicKey } from '@solana/web3.js'
import { z } from 'zod'
import { displayText } from '../../../../src/kernel/money.js'
import type { LocalChain } from '../../chain/local-chain.js'
import { unitLimit } from '../build-swap.js'
import type { UnsignedTransaction } from '../compose-transaction.js'
import { blockHeightField, type EngineFault } from '../engine-fault.js'
import { address, rawAmount } from '../engine-route.js'
import type { Trade } from '../market.js'
import type { RouteStep } from '../route-plan.js'

/** The price in micro-lamports per compute unit, and the fee of a whole transaction in lamports. */
export const unitPrice = 1_000
const priorityLamports = Math.ceil((unitPrice * unitLimit) / 1_000_000)
const slippageBps = 50
const microUsd = 1_000_000
const impactPerPercent = 10_000_000
const quoteSeconds = 60

/** The query of `GET /order`. A partner fee needs both the account and the rate. */
export const orderQuery = z
  .object({
    inputMint: address,
    outputMint: address,
    amount: rawAmount,
    taker: address.optional(),
    receiver: address.optional(),
    referralAccount: address.optional(),
    referralFee: z.coerce.number().int().min(50).max(255).optional(),
    excludeRouters: z.string().max(200).optional(),
  })
  .refine(
    ({ referralAccount, referralFee }) => (referralAccount === undefined) === (referralFee === undefined),
    {
      path: ['referralFee'],
      message: 'referralAccount and referralFee are only valid together',
    },
  )
export type OrderQuery = z.output<typeof orderQuery>

/** Why an order has no transaction, by the engine's error code. */
const orderErrors = { 1: 'Insufficient funds', 2: 'Top up 0.01 SOL for gas' } as const
export type OrderError = keyof typeof orderErrors

/** A priced order. It has a transaction when there is a taker who can pay. */
export interface Order {
  readonly requestId: string
  readonly query: OrderQuery
  readonly trade: Trade
  readonly route: readonly RouteStep[]
  readonly unsigned?: UnsignedTransaction
  readonly error?: OrderError
  readonly maker?: PublicKey
  /** Lamports that the taker pays for opening a token account. */
  readonly rent?: bigint
}

/** An order in Ultra's wire format. It has no block height unless a fault adds it. */
export function orderJson(chain: LocalChain, order: Order, height: EngineFault['height'] = 'none') {
  const { query, trade, unsigned, error, maker, rent = 0n } = order
  const payer = maker?.toBase58() ?? query.taker ?? null
  return {
    mode: query.excludeRouters === undefined ? 'ultra' : 'manual',
    ...amounts(trade),
    routePlan: order.route,
    ...(query.referralAccount === undefined ? {} : { referralAccount: query.referralAccount }),
    ...fees(trade),
    signatureFeeLamports: maker ? 0 : 5000,
    signatureFeePayer: payer,
    prioritizationFeeLamports: maker ? 0 : priorityLamports,
    prioritizationFeePayer: payer,
    rentFeeLamports: Number(rent),
    rentFeePayer: rent > 0n ? (query.taker ?? null) : null,
    ...routing(chain, maker),
    transaction: error ? '' : (unsigned?.transaction.toString('base64') ?? null),
    ...(unsigned && blockHeightField(unsigned.lastValidBlockHeight, height)),
    gasless: maker !== undefined,
    requestId: order.requestId,
    totalTime: 3,
    taker: query.taker ?? null,
    ...(error ? { errorCode: error, errorMessage: orderErrors[error] } : {}),
  }
}

function amounts(trade: Trade) {
  const { input, output, inAmount, outAmount, impact, usdMicro } = trade
  const threshold = (outAmount * BigInt(10_000 - slippageBps)) / 10_000n
  const inUsdValue = Number(usdMicro) / microUsd
  // A loss is negative. `priceImpact` is in percent, and the older `priceImpactPct` is a fraction.
  const priceImpact = -Number(impact) / impactPerPercent
  return {
    inputMint: input.mint,
    outputMint: output.mint,
    inAmount: String(inAmount),
    outAmount: String(outAmount),
    inUsdValue,
    outUsdValue: inUsdValue * (1 + priceImpact / 100),
    priceImpact,
    swapUsdValue: inUsdValue,
    otherAmountThreshold: String(threshold),
    swapMode: 'ExactIn',
    slippageBps,
    priceImpactPct: displayText(-impact, 9),
  }
}

function fees({ fee }: Trade) {
  if (!fee) return { feeBps: 0, platformFee: { feeBps: 0 } }
  return {
    feeMint: fee.mint,
    feeBps: fee.bps,
    platformFee: { amount: String(fee.amount), feeBps: fee.bps },
  }
}

function routing(chain: LocalChain, maker: PublicKey | undefined) {
  if (!maker) return { swapType: 'aggregator', router: 'metis' }
  const expireAt = String(chain.clock.blockTime(chain.clock.slot) + quoteSeconds)
  return { swapType: 'rfq', router: 'jupiterz', quoteId: randomUUID(), maker: maker.toBase58(), expireAt }
}
