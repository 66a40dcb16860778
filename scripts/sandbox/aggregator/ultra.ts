import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { PublicKey, type VersionedTransaction } from '@solana/web3.js'
import { z } from 'zod'
import { basisPoints, displayText } from '../../../src/kernel/money.js'
import { solMint } from '../../../src/kernel/tokens.js'
import { associatedAccount } from '../chain/faucet.js'
import type { LedgerRecord } from '../chain/ledger.js'
import type { LocalChain } from '../chain/local-chain.js'
import { RpcError } from '../chain/rpc/error.js'
import { decodeTransaction, transactionBytesMax } from '../chain/vm/wire-transaction.js'
import { json, type SandboxAnswer, type SandboxRequest } from '../http-server.js'
import { alterPlan, composeSwap, type FeeShare, priorityLamports, type SwapPlan } from './compose-swap.js'
import { address, EngineError, type Market, type Mode, rawAmount, readInput } from './engine.js'
import { engineWallet } from './liquidity.js'
import {
  feeMintOf,
  marketAccounts,
  priceTrade,
  routePlan,
  type Trade,
  tokenAccountAt,
  tradable,
  tradeJson,
} from './market.js'

const landingMs = 10_000
const pollMs = 20
const slippageBps = 50
/** Accounts of a route that does not fit a packet. */
const oversizedAccounts = 64
/** Ultra's own fee, which it takes when there is no partner fee. */
const ownFeeBps = 10
/** The engine keeps a fifth of a partner fee. The real engine takes it when the fee is claimed, this one in the swap. */
const engineShareBps = 2_000
const orderErrors = { 1: 'Insufficient funds', 2: 'Top up 0.01 SOL for gas' } as const

/** A partner fee needs both the account and the rate. */
const orderQuery = z
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
    { path: ['referralFee'], message: 'referralAccount and referralFee are only valid together' },
  )
type OrderQuery = z.output<typeof orderQuery>

const executeBody = z.object({
  signedTransaction: z.string().max(4_000).default(''),
  requestId: z.string().max(100).default(''),
})

interface Order {
  readonly trade: Trade
  readonly unsigned: Buffer
}

/** The stand-in for the engine behind `aggregator-ultra`, in the wire format of Jupiter's Ultra API. */
export class UltraEngine {
  readonly #market: Market
  readonly #orders = new Map<string, Order>()

  constructor(market: Market) {
    this.#market = market
  }

  /** `GET /order`: a price and, for a taker who can pay, a transaction to sign. */
  order(request: SandboxRequest, mode: Mode): SandboxAnswer {
    const query = readInput(orderQuery, request, 'query')
    const { chain } = this.#market
    const trade = priceOrder(this.#market, query, mode)
    const route = routePlan(trade, mode === 'oversized' ? oversizedAccounts : 0)
    const honest = query.taker === undefined ? undefined : planOf(chain, query, query.taker, trade, route)
    const plan = honest && alterPlan(chain, mode, honest)
    const error = honest && (mode === 'error-code' ? 1 : errorOf(chain, honest))
    const unsigned = plan && composeSwap(chain, plan)
    const requestId = randomUUID()
    if (unsigned && !error) this.#orders.set(requestId, { trade, unsigned: unsigned.transaction })
    return json(200, {
      mode: query.excludeRouters === undefined ? 'ultra' : 'manual',
      ...tradeJson(trade, slippageBps),
      ...loss(trade),
      routePlan: route,
      ...fees(trade),
      signatureFeePayer: plan?.cosigner?.toBase58() ?? query.taker ?? null,
      prioritizationFeeLamports: priorityLamports,
      ...(plan?.cosigner
        ? { swapType: 'rfq', router: 'jupiterz' }
        : { swapType: 'aggregator', router: 'metis' }),
      transaction: error ? '' : (unsigned?.transaction.toString('base64') ?? null),
      gasless: plan?.cosigner !== undefined,
      requestId,
      taker: query.taker ?? null,
      ...(error ? { errorCode: error, errorMessage: orderErrors[error] } : {}),
    })
  }

  /** `POST /execute`: submits a signed order, waits until it is confirmed and answers the result. */
  async execute(request: SandboxRequest): Promise<SandboxAnswer> {
    const { signedTransaction, requestId } = readInput(executeBody, request, 'body')
    const order = this.#orders.get(requestId)
    if (!order) throw refused(-1, 'Order not found, it might have expired')
    const { chain } = this.#market
    const signed = readSigned(order.unsigned, signedTransaction)
    const raw = signed.serialize()
    const { err } = chain.simulate(raw, { verifySignatures: true, anyBlockhash: true })
    if (err === 'SignatureFailure') throw refused(-2, 'Invalid signed transaction')
    const signature = chain.submit(raw, { skipPreflight: true })
    const record = await waitUntilLanded(chain, signature)
    return json(200, { signature, ...outcomeOf(order.trade, record) })
  }
}

/** A loss is negative. `priceImpact` is in percent, and the older `priceImpactPct` is a fraction. */
function loss({ impact }: Trade) {
  return { priceImpact: -Number(impact) / 1e7, priceImpactPct: displayText(-impact, 9) }
}

function fees({ fee }: Trade) {
  if (!fee) return { feeBps: 0, platformFee: { feeBps: 0 } }
  const { mint: feeMint, bps: feeBps, amount } = fee
  return { feeMint, feeBps, platformFee: { amount: String(amount), feeBps } }
}

/**
 * Prices an order. As on mainnet, a partner without an account for the fee's token gets no fee, and only the rate in the
 * answer shows it.
 * @throws EngineError when there is no route
 */
function priceOrder(market: Market, query: OrderQuery, mode: Mode): Trade {
  const input = tradable(market, query.inputMint)
  const output = tradable(market, query.outputMint)
  const excluded = query.excludeRouters?.split(',').includes('metis') || mode === 'no-route'
  if (!input || !output || input.mint === output.mint || excluded) throw noQuotes()
  const mint = feeMintOf(input, output)
  const hasPartner = mode !== 'no-fee' && partnerAccount(market.chain, query, mint) !== undefined
  const bps = hasPartner ? (query.referralFee ?? 0) : ownFeeBps
  const trade = priceTrade(input, output, query.amount, { mint, bps })
  if (!trade) throw noQuotes()
  return trade
}

function noQuotes(): EngineError {
  return new EngineError({ error: 'Failed to get quotes' })
}

function feeShares(chain: LocalChain, query: OrderQuery, { fee }: Trade): FeeShare[] {
  if (!fee) return []
  const { mint, amount, bps } = fee
  const partner = bps === query.referralFee ? partnerAccount(chain, query, mint) : undefined
  const kept = partner ? basisPoints(amount, engineShareBps) : amount
  const own = { mint, account: associatedAccount(engineWallet(chain), mint), amount: kept }
  return partner ? [{ mint, account: partner, amount: amount - kept }, own] : [own]
}

function partnerAccount(
  chain: LocalChain,
  { referralAccount }: OrderQuery,
  mint: string,
): PublicKey | undefined {
  const account = referralAccount && associatedAccount(referralAccount, mint)
  return account && tokenAccountAt(chain, account) ? account : undefined
}

/** SOL is paid out native. A token goes to the receiver's associated account, which the order opens. */
function planOf(
  chain: LocalChain,
  query: OrderQuery,
  taker: string,
  trade: Trade,
  route: ReturnType<typeof routePlan>,
): SwapPlan {
  const { input, output, inAmount, outAmount } = trade
  const receiver = new PublicKey(query.receiver ?? taker)
  return {
    user: new PublicKey(taker),
    input,
    output,
    inAmount,
    outAmount,
    destination:
      output.mint === solMint
        ? { wallet: receiver }
        : { account: associatedAccount(receiver, output.mint), openFor: receiver },
    fees: feeShares(chain, query, trade),
    extraAccounts: marketAccounts(route),
  }
}

/** Why the taker cannot pay. Other failures are reported as missing gas, because they have no code. */
function errorOf(chain: LocalChain, plan: SwapPlan): keyof typeof orderErrors | undefined {
  const { transaction } = composeSwap(chain, plan)
  // A transaction larger than a packet cannot be simulated. The engine returns it anyway.
  if (transaction.length > transactionBytesMax) return undefined
  const { err } = chain.simulate(transaction, { verifySignatures: false, anyBlockhash: true })
  if (err === null) return undefined
  const { mint } = plan.input
  const account = mint === solMint ? undefined : tokenAccountAt(chain, associatedAccount(plan.user, mint))
  const balance =
    mint === solMint
      ? (chain.svm.account(plan.user.toBase58())?.lamports ?? 0n)
      : BigInt(account?.uiTokenAmount.amount ?? 0)
  return balance < plan.inAmount ? 1 : 2
}

function refused(code: number, error: string): EngineError {
  return new EngineError({ error, code })
}

/** @throws EngineError for bytes that are no transaction, or another one than the order's */
function readSigned(unsigned: Buffer, signed: string): VersionedTransaction {
  try {
    const { parsed } = decodeTransaction(Buffer.from(signed, 'base64'))
    const { message } = decodeTransaction(unsigned).parsed
    if (Buffer.from(message.serialize()).equals(Buffer.from(parsed.message.serialize()))) return parsed
  } catch (error) {
    if (error instanceof RpcError) throw refused(-2, 'Invalid signed transaction')
    throw error
  }
  throw refused(-3, 'Invalid message bytes')
}

async function waitUntilLanded(chain: LocalChain, signature: string): Promise<LedgerRecord | undefined> {
  for (const deadline = Date.now() + landingMs; Date.now() < deadline; await delay(pollMs)) {
    const record = chain.ledger.visible(signature, 'confirmed')
    if (record) return record
  }
  return undefined
}

function outcomeOf({ inAmount, outAmount }: Trade, record: LedgerRecord | undefined) {
  if (!record) return { status: 'Failed', slot: '0', code: -1006, error: 'Timed out' }
  const slot = String(record.slot)
  const { err } = record.meta
  if (err !== null) {
    const custom = /"Custom":(\d+)/.exec(JSON.stringify(err))?.[1]
    return { status: 'Failed', slot, code: Number(custom ?? -1001), error: JSON.stringify(err) }
  }
  const [inputAmountResult, outputAmountResult] = [String(inAmount), String(outAmount)]
  return { status: 'Success', slot, code: 0, inputAmountResult, outputAmountResult }
}
