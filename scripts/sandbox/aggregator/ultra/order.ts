import { randomUUID } from 'node:crypto'
import { PublicKey } from '@solana/web3.js'
import { z } from 'zod'
import { basisPoints, displayText } from '../../../../src/kernel/money.js'
import { solMint } from '../../../../src/kernel/tokens.js'
import type { LocalChain } from '../../chain/local-chain.js'
import { tokenAccountBytes } from '../../chain/token-accounts.js'
import { transactionBytesMax } from '../../chain/vm/wire-transaction.js'
import type { PriceFeed } from '../../price-feed.js'
import { accountOf, balanceOf, tokenAccountAt } from '../accounts.js'
import { alterPlan } from '../alter-plan.js'
import { type Destination, type FeeShare, type SwapPlan, unitLimit } from '../build-swap.js'
import { composeTransaction, type UnsignedTransaction } from '../compose-transaction.js'
import { blockHeightField, type EngineFault, type Mode } from '../engine-fault.js'
import { address, EngineError, rawAmount } from '../engine-route.js'
import { engineWallet } from '../liquidity.js'
import { feeMintOf, ownFeeBps, priceTrade, type Trade, tradable } from '../market.js'
import { furtherStepsMax, marketAccounts, type RouteStep, routePlan } from '../route-plan.js'

/** The price in micro-lamports per compute unit, and the fee of a whole transaction in lamports. */
const unitPrice = 1_000
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
type OrderQuery = z.output<typeof orderQuery>

/** Why an order has no transaction, by the engine's error code. */
const orderErrors = { 1: 'Insufficient funds', 2: 'Top up 0.01 SOL for gas' } as const
type OrderError = keyof typeof orderErrors

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
function feeShares(chain: LocalChain, query: OrderQuery, { fee }: Trade): FeeShare[] {
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

/** Builds an order. It has a transaction when there is a taker who can pay. The mode can alter the transaction. */
export function buildOrder(chain: LocalChain, query: OrderQuery, trade: Trade, mode: Mode): Order {
  const route = routePlan(trade, mode === 'oversized' ? furtherStepsMax : 0)
  const priced = { requestId: randomUUID(), query, trade, route }
  if (query.taker === undefined) return priced
  const honest = planOf(chain, query, new PublicKey(query.taker), priced)
  const plan = alterPlan(chain, mode, honest)
  const unsigned = composeTransaction(chain, plan)
  const error = mode === 'error-code' ? 1 : errorOf(chain, honest)
  const made = { ...priced, rent: rentOf(chain, honest), ...(plan.cosigner ? { maker: plan.cosigner } : {}) }
  return error === undefined ? { ...made, unsigned } : { ...made, error }
}

function planOf(
  chain: LocalChain,
  query: OrderQuery,
  user: PublicKey,
  { trade, route }: Pick<Order, 'trade' | 'route'>,
): SwapPlan {
  const { input, output, inAmount, outAmount } = trade
  const receiver = query.receiver === undefined ? user : new PublicKey(query.receiver)
  return {
    user,
    input,
    output,
    inAmount,
    outAmount,
    destination: destinationOf(output.mint, receiver),
    fees: feeShares(chain, query, trade),
    wrapSol: true,
    unitPrice,
    extraAccounts: marketAccounts(route.map(({ swapInfo }) => swapInfo.ammKey)),
    extraInstructions: [],
  }
}

/** SOL is paid out native. A token goes to the receiver's associated account, which the order opens. */
function destinationOf(mint: string, receiver: PublicKey): Destination {
  return mint === solMint ? { wallet: receiver } : { account: accountOf(receiver, mint), openFor: receiver }
}

/** Why the taker cannot pay. Other failures are reported as missing gas, because they have no code. */
function errorOf(chain: LocalChain, plan: SwapPlan): OrderError | undefined {
  const { transaction } = composeTransaction(chain, plan)
  // A transaction larger than a packet cannot be simulated. The engine returns it anyway.
  if (transaction.length > transactionBytesMax) return undefined
  const { err } = chain.simulate(transaction, { verifySignatures: false, anyBlockhash: true })
  if (err === null) return undefined
  return balanceOf(chain, plan.user, plan.input.mint) < plan.inAmount ? 1 : 2
}

function rentOf(chain: LocalChain, { destination }: SwapPlan): bigint {
  const opens = 'openFor' in destination && !chain.svm.account(destination.account.toBase58())
  return opens ? chain.svm.rentExempt(tokenAccountBytes) : 0n
}
