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
  slippageBps,
  units,
} from '../swaps/engine-request.js'
import { lookupTablesOf, rebuildTransaction } from '../swaps/rebuild-transaction.js'

/** Accounts a route may use; fewer make a smaller transaction. The first is the engine's own default. */
const accountLimits = [64, 48, 32, 20]
const priorityFee = { priorityLevelWithMaxLamports: { priorityLevel: 'high', maxLamports: 500_000 } }

// Loose: `POST /swap` must get the quote back unchanged, with fields we do not read.
const quote = z.looseObject({
  inputMint: z.string(),
  outputMint: z.string(),
  inAmount: z.string(),
  outAmount: z.string().regex(/^\d{1,20}$/),
  // A fraction.
  priceImpactPct: z.union([z.string(), z.number()]),
  platformFee: z.object({ feeBps: z.number() }).loose().nullish(),
})
type Quote = z.output<typeof quote>

const swapAnswer = z.object({ swapTransaction: z.base64().min(1) })

type NeededChain = Pick<Chain, 'latestBlockhash' | 'lookupTables'>

/**
 * The engine behind `aggregator-v6`, in the wire format of Jupiter's Swap API v1 (`GET /quote`, `POST /swap`). We replace
 * the blockhash with one of our own, so that we know how long the transaction is valid, and add the creation of the
 * recipient's account, which the engine expects to exist.
 */
export function createAggregatorV6(options: EngineOptions, chain: NeededChain): SwapEngine {
  return {
    provider: 'aggregator-v6',
    async offer(request) {
      for (const maxAccounts of accountLimits) {
        const quoted = await requestEngine(options, `/quote?${quoteQuery(request, maxAccounts)}`, quote)
        refuseOther(quoted, request)
        const built = await rebuild(chain, request, await fetchTransaction(options, request, quoted))
        if (built !== undefined) return { ...built, ...termsOf(quoted, request) }
      }
      throw noRoute('no route fits a transaction')
    },
  }
}

function quoteQuery(request: SwapRequest, maxAccounts: number): URLSearchParams {
  const { inputMint, outputMint, amount } = request
  const query = new URLSearchParams({
    inputMint,
    outputMint,
    amount: String(amount),
    slippageBps: String(slippageBps),
    maxAccounts: String(maxAccounts),
  })
  if (feeOf(request) > 0) query.set('platformFeeBps', String(feeOf(request)))
  return query
}

/** The engine refuses a fee without an account that takes it. */
function feeOf({ feeBps, feeAccount }: SwapRequest): number {
  return feeAccount === undefined ? 0 : feeBps
}

function refuseOther(quoted: Quote, request: SwapRequest): void {
  const { inputMint, outputMint, amount } = request
  if (
    quoted.inputMint !== inputMint ||
    quoted.outputMint !== outputMint ||
    quoted.inAmount !== String(amount)
  )
    throw new ProviderError('ambiguous', 'the engine quoted something else')
  const quotedFee = quoted.platformFee?.feeBps ?? 0
  if (quotedFee !== feeOf(request)) throw noRoute(`a fee of ${quotedFee} in place of ${feeOf(request)}`)
}

async function fetchTransaction(
  options: EngineOptions,
  request: SwapRequest,
  quoteResponse: Quote,
): Promise<Uint8Array> {
  const body = {
    userPublicKey: request.supporter,
    quoteResponse,
    wrapAndUnwrapSol: true,
    destinationTokenAccount: request.recipientAccount,
    trackingAccount: request.referenceKey,
    prioritizationFeeLamports: priorityFee,
    ...(feeOf(request) > 0 ? { feeAccount: request.feeAccount } : {}),
  }
  try {
    const { swapTransaction } = await requestEngine(options, '/swap', swapAnswer, { method: 'POST', body })
    return Buffer.from(swapTransaction, 'base64')
  } catch (error) {
    // The engine just quoted a route, so it refuses our request and not the pair of tokens.
    if (error instanceof ProviderError && error.kind === 'rejected')
      throw new ProviderError('unavailable', error.message, error.code)
    throw error
  }
}

/** Undefined when the transaction does not fit a packet. */
async function rebuild(
  chain: NeededChain,
  { supporter, recipient, outputMint, createsRecipientAccount }: SwapRequest,
  transaction: Uint8Array,
): Promise<Pick<SwapOffer, 'transaction' | 'lastValidBlockHeight'> | undefined> {
  if (transaction.length > transactionBytesMax) return undefined
  const newAccount = createsRecipientAccount
    ? { payer: supporter, owner: recipient, mint: outputMint }
    : undefined
  const [{ blockhash, lastValidBlockHeight }, tables] = await Promise.all([
    chain.latestBlockhash(),
    chain.lookupTables(newAccount === undefined ? [] : lookupTablesOf(transaction)),
  ])
  const rebuilt = rebuildTransaction(transaction, { blockhash, newAccount, tables })
  return rebuilt && { transaction: rebuilt, lastValidBlockHeight }
}

function termsOf(
  { outAmount, priceImpactPct, ...quoted }: Quote,
  request: SwapRequest,
): Pick<SwapOffer, 'outAmount' | 'leastAmount' | 'priceImpactPct' | 'carriesReferenceKey' | 'includesFee'> {
  const amount = units.safeParse(outAmount).data
  const impact = numeric.safeParse(priceImpactPct).data
  if (amount === undefined || impact === undefined)
    throw new ProviderError('ambiguous', 'a quote whose numbers cannot be read')
  return {
    outAmount: amount,
    leastAmount: leastAmount(amount, quoted['otherAmountThreshold']),
    priceImpactPct: percent(impact * 100),
    carriesReferenceKey: true,
    includesFee: feeOf(request) === request.feeBps,
  }
}
