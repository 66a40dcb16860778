import type { PayableCreator } from '../../creators/resolve-creator.js'
import { DomainError } from '../../kernel/errors.js'
import { basisPoints, least } from '../../kernel/money.js'
import { ProviderError, type ProviderErrorKind } from '../../kernel/provider-error.js'
import { solMint, type Token } from '../../kernel/tokens.js'
import { messageHash } from '../../kernel/wire-transaction.js'
import type { SwapEngine, SwapOffer, SwapRequest } from '../../ports/swaps.js'
import type { Services } from '../../services.js'
import type { GrossAmount } from '../quote.js'
import { swapRefusal } from '../select-route.js'
import { newReferenceKey, type UnsignedTransaction } from '../unsigned-transaction.js'
import { checkSwap, type SwapTerms } from './check-swap.js'

type Needs = Pick<Services, 'chain' | 'config' | 'metrics' | 'log' | 'swaps'>

interface Swap {
  readonly input: Token
  readonly output: Token
  readonly gross: GrossAmount
  readonly creator: PayableCreator
  readonly supporter: string
}

/**
 * Builds the unsigned transaction of a tip that is swapped into another token (docs/decisions/0013). The swap engines are
 * called in their order. Each offer is simulated and checked, and the first one that passes is taken. Throws `no_route`
 * or `swap_engines_unavailable` when none passes. `excluded`: an engine that is not called and counts as unavailable.
 */
export async function buildSwap(
  services: Needs,
  swap: Swap,
  excluded: UnsignedTransaction['provider'] | undefined,
): Promise<UnsignedTransaction> {
  const request = await requestFor(services, swap)
  const failures: ProviderErrorKind[] = excluded === undefined ? [] : ['unavailable']
  for (const engine of services.swaps.filter(({ provider }) => provider !== excluded)) {
    const offer = await checkedOffer(services, engine, request)
    if (typeof offer !== 'string') return transactionOf(services, swap, engine, offer, request)
    failures.push(offer)
  }
  throw new DomainError(swapRefusal(failures))
}

async function requestFor({ chain, config }: Needs, swap: Swap): Promise<SwapRequest> {
  const { input, output, gross, creator, supporter } = swap
  const { treasuryWallet, feeBps } = config.tips
  const recipientAccount = chain.associatedAccount(creator.wallet, output.mint)
  const feeAccounts = [output, input].map(({ mint }) => chain.associatedAccount(treasuryWallet, mint))
  const existing = await chain.tokenAccounts([recipientAccount, ...feeAccounts])
  return {
    inputMint: input.mint,
    outputMint: output.mint,
    amount: gross.units,
    supporter,
    recipient: creator.wallet,
    recipientAccount,
    createsRecipientAccount: !existing.has(recipientAccount),
    feeBps,
    feeAccount: feeAccounts.find((account) => existing.has(account)),
    referenceKey: newReferenceKey(),
  }
}

/** An offer that passes the check, or why the engine has none. */
async function checkedOffer(
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
  const simulation = await chain.simulate(offer.transaction)
  if (simulation === undefined) return 'ambiguous'
  const check = checkSwap(termsOf(chain, request, offer), simulation)
  if (check.fault === undefined) {
    const { received = offer.outAmount } = check
    // An engine may leave out what it was asked to name: then the message tells the tip.
    const named = simulation.instructions.some(({ accounts }) => accounts.includes(request.referenceKey))
    const shown = { ...offer, carriesReferenceKey: offer.carriesReferenceKey && named }
    // The price may have moved since the quote, so the simulated amount is promised if it is lower.
    if (received >= offer.outAmount) return shown
    return { ...shown, outAmount: received, leastAmount: least(received, offer.leastAmount) }
  }
  log.warn(
    { engine: engine.provider, fault: check.fault },
    'the transaction of a swap engine failed the check and was not used',
  )
  if (check.fault === 'second_signer') return 'rejected'
  metrics.alerts.inc({ kind: 'swap_refused' })
  return 'ambiguous'
}

function termsOf(chain: Services['chain'], request: SwapRequest, { outAmount }: SwapOffer): SwapTerms {
  return { ...request, outAmount, wrappedAccount: chain.associatedAccount(request.supporter, solMint) }
}

function transactionOf(
  { config, metrics, log }: Needs,
  { output, gross }: Swap,
  { provider }: SwapEngine,
  offer: SwapOffer,
  { referenceKey }: SwapRequest,
): UnsignedTransaction {
  const { transaction, lastValidBlockHeight, outAmount, leastAmount, priceImpactPct } = offer
  const { carriesReferenceKey, includesFee } = offer
  if (!includesFee) {
    metrics.alerts.inc({ kind: 'fee_leg_left_out' })
    log.warn(
      { token: output.symbol },
      'the treasury has no token account for this token: the transaction of a swapped tip is built without the platform fee',
    )
  }
  return {
    provider,
    output,
    transaction,
    lastValidBlockHeight,
    referenceKey: carriesReferenceKey ? referenceKey : null,
    messageHash: carriesReferenceKey ? null : messageHash(transaction),
    outAmount,
    leastAmount,
    fee: includesFee ? basisPoints(gross.units, config.tips.feeBps) : 0n,
    priceImpactPct,
  }
}
