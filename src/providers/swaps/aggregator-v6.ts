import { z } from 'zod'
import { ProviderError } from '../../kernel/provider-error.js'
import type { Chain } from '../../ports/chain.js'
import { type SwapEngine, type SwapOffer, type SwapRequest, transactionBytesMax } from '../../ports/swaps.js'
import { recompose, tablesOf } from './recompose.js'
import { ask, type EngineOptions, noRoute, numeric, percent, units } from './wire.js'

/** How far the price may move against the creator before the swap fails. */
const slippageBps = 50
/** Accounts a route may use; fewer make a smaller transaction. The first is the engine's own default. */
const accountLimits = [64, 48, 32, 20]
const priorityFee = { priorityLevelWithMaxLamports: { priorityLevel: 'high', maxLamports: 500_000 } }

// What the engine adds is handed back to it unread.
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
 * The engine behind `aggregator-v6`, in the wire format of Jupiter's Swap API v1 (`GET /quote`, `POST /swap`). Its
 * transaction is put on a block of our own, so how long it lives is known whatever the engine tells, and opens the
 * recipient's account, which the engine takes to exist.
 */
export function createAggregatorV6(options: EngineOptions, chain: NeededChain): SwapEngine {
  return {
    provider: 'aggregator-v6',
    async offer(request) {
      for (const maxAccounts of accountLimits) {
        const quoted = await ask(options, `/quote?${quoteQuery(request, maxAccounts)}`, quote)
        refuseOther(quoted, request)
        const found = await compose(chain, request, await readTransaction(options, request, quoted))
        if (found !== undefined) return { ...found, ...termsOf(quoted, request) }
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

/** The engine refuses a fee that has nowhere to go. */
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
  const told = quoted.platformFee?.feeBps ?? 0
  if (told !== feeOf(request)) throw noRoute(`a fee of ${told} in place of ${feeOf(request)}`)
}

async function readTransaction(
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
    const { swapTransaction } = await ask(options, '/swap', swapAnswer, { method: 'POST', body })
    return Buffer.from(swapTransaction, 'base64')
  } catch (error) {
    // It had a route a moment ago: refused was what we sent, not the pair.
    if (error instanceof ProviderError && error.kind === 'rejected')
      throw new ProviderError('unavailable', error.message, error.code)
    throw error
  }
}

/** Undefined when the transaction does not fit a packet. */
async function compose(
  chain: NeededChain,
  { supporter, recipient, outputMint, opensRecipientAccount }: SwapRequest,
  transaction: Uint8Array,
): Promise<Pick<SwapOffer, 'transaction' | 'lastValidBlockHeight'> | undefined> {
  if (transaction.length > transactionBytesMax) return undefined
  const opening = opensRecipientAccount ? { payer: supporter, owner: recipient, mint: outputMint } : undefined
  const [{ blockhash, lastValidBlockHeight }, tables] = await Promise.all([
    chain.latestBlockhash(),
    chain.lookupTables(opening === undefined ? [] : tablesOf(transaction)),
  ])
  const composed = recompose(transaction, { blockhash, opening, tables })
  return composed && { transaction: composed, lastValidBlockHeight }
}

function termsOf(
  { outAmount, priceImpactPct }: Quote,
  request: SwapRequest,
): Pick<SwapOffer, 'outAmount' | 'priceImpactPct' | 'referenced' | 'feeTaken'> {
  const amount = units.safeParse(outAmount).data
  const impact = numeric.safeParse(priceImpactPct).data
  if (amount === undefined || impact === undefined)
    throw new ProviderError('ambiguous', 'a quote whose numbers cannot be read')
  return {
    outAmount: amount,
    priceImpactPct: percent(impact * 100),
    referenced: true,
    feeTaken: feeOf(request) === request.feeBps,
  }
}
