import type { PayableCreator } from '../../creators/resolve-creator.js'
import { DomainError } from '../../kernel/errors.js'
import { basisPoints } from '../../kernel/money.js'
import { ProviderError, type ProviderErrorKind } from '../../kernel/provider-error.js'
import { solMint, type Token } from '../../kernel/tokens.js'
import { messageHash } from '../../kernel/wire-transaction.js'
import type { SwapEngine, SwapOffer, SwapRequest } from '../../ports/swaps.js'
import type { Services } from '../../services.js'
import { newReferenceKey } from '../direct/reference-key.js'
import type { Gross } from '../quote.js'
import { refusalOf } from '../select-route.js'
import type { UnsignedTransaction } from '../unsigned-transaction.js'
import { checkSwap, type SwapTerms } from './check-swap.js'

type Needs = Pick<Services, 'chain' | 'config' | 'metrics' | 'log' | 'swaps'>

interface Swap {
  readonly input: Token
  readonly output: Token
  readonly gross: Gross
  readonly creator: PayableCreator
  readonly supporter: string
}

/**
 * The unsigned transaction of a tip that is changed into another token on its way. The engines are asked in their
 * order, and what they offer is simulated before it is handed out; the first offer that holds is taken. Throws
 * `no_route` or `swap_engines_unavailable` when none does. `without`: an engine that counts as away.
 */
export async function buildSwap(
  services: Needs,
  swap: Swap,
  without: UnsignedTransaction['provider'] | undefined,
): Promise<UnsignedTransaction> {
  const request = await requestFor(services, swap)
  const refusals: ProviderErrorKind[] = without === undefined ? [] : ['unavailable']
  for (const engine of services.swaps.filter(({ provider }) => provider !== without)) {
    const offer = await offerOf(services, engine, request)
    if (typeof offer !== 'string') return issued(services, swap, engine, offer, request)
    refusals.push(offer)
  }
  throw new DomainError(refusalOf(refusals))
}

async function requestFor({ chain, config }: Needs, swap: Swap): Promise<SwapRequest> {
  const { input, output, gross, creator, supporter } = swap
  const { treasuryWallet, feeBps } = config.tips
  const recipientAccount = chain.associatedAccount(creator.wallet, output.mint)
  const feeAccounts = [output, input].map(({ mint }) => chain.associatedAccount(treasuryWallet, mint))
  const open = await chain.tokenAccounts([recipientAccount, ...feeAccounts])
  return {
    inputMint: input.mint,
    outputMint: output.mint,
    amount: gross.units,
    supporter,
    recipient: creator.wallet,
    recipientAccount,
    opensRecipientAccount: !open.has(recipientAccount),
    feeBps,
    feeAccount: feeAccounts.find((account) => open.has(account)),
    referenceKey: newReferenceKey(),
  }
}

/** An offer that holds, or what is wrong with the engine. */
async function offerOf(
  { chain, metrics, log }: Needs,
  engine: SwapEngine,
  request: SwapRequest,
): Promise<SwapOffer | ProviderErrorKind> {
  const offer = await engine.offer(request).catch((error: unknown) => {
    if (!(error instanceof ProviderError)) throw error
    log.warn({ err: error, engine: engine.provider }, 'a swap engine made no offer')
    return error.kind
  })
  if (typeof offer === 'string') return offer
  const rehearsal = await chain.simulate(offer.transaction)
  if (rehearsal === undefined) return 'ambiguous'
  const verdict = checkSwap(termsOf(chain, request, offer), rehearsal)
  if (verdict.fault === undefined) {
    const { received = offer.outAmount } = verdict
    // The market may have moved since the quote: what is promised is what arrives.
    return received < offer.outAmount ? { ...offer, outAmount: received } : offer
  }
  log.warn({ engine: engine.provider, fault: verdict.fault }, 'a swap transaction was not handed out')
  if (verdict.fault === 'second_signer') return 'rejected'
  metrics.alerts.inc({ kind: 'swap_refused' })
  return 'ambiguous'
}

function termsOf(chain: Services['chain'], request: SwapRequest, { outAmount }: SwapOffer): SwapTerms {
  return { ...request, outAmount, wrappedAccount: chain.associatedAccount(request.supporter, solMint) }
}

function issued(
  { config, metrics, log }: Needs,
  { output, gross }: Swap,
  { provider }: SwapEngine,
  offer: SwapOffer,
  { referenceKey }: SwapRequest,
): UnsignedTransaction {
  const { transaction, lastValidBlockHeight, outAmount, priceImpactPct, referenced, feeTaken } = offer
  if (!feeTaken) {
    metrics.alerts.inc({ kind: 'fee_leg_left_out' })
    log.warn(
      { token: output.symbol },
      'the treasury has no account for it: a swapped tip goes out without our fee',
    )
  }
  return {
    provider,
    output,
    transaction,
    lastValidBlockHeight,
    referenceKey: referenced ? referenceKey : null,
    messageHash: referenced ? null : messageHash(transaction),
    outAmount,
    fee: feeTaken ? basisPoints(gross.units, config.tips.feeBps) : 0n,
    priceImpactPct,
  }
}
