import { type Token, tokenByMint, tokenBySymbol, tokens } from '../../kernel/tokens.js'
import type { ChainTransaction } from '../../ports/chain.js'
import type { Claim } from '../record/claim.js'
import {
  type Associated,
  amountReceived,
  findPayment,
  findSwapPayment,
  type TokenPayment,
} from './balance-changes.js'
import { chooseMessage, claimAgrees, supportedAmount } from './claim-agreement.js'

/** What the service issued: to whom a transaction of this intent is meant to go. */
export interface MatchableIntent {
  readonly id: string
  readonly payoutWallet: string
  /** The wallet it was issued for; whoever signs may pay it. */
  readonly sourceWallet: string
  readonly inputMint: string
  /** Another one than the input: a swap. */
  readonly outputMint: string
}

export interface MatchInput {
  readonly transaction: ChainTransaction
  /** Intents whose reference key the transaction carries, or whose very message it signs. */
  readonly intents: readonly MatchableIntent[]
  /** What callers said, oldest first. */
  readonly claims: readonly Claim[]
  /** Wallets of registered creators among the accounts of the transaction. */
  readonly creators: ReadonlySet<string>
  readonly treasury: string
  /** Transactions before this prove nothing without an intent: old transfers between strangers are no tips. */
  readonly notBefore: Date
}

/** What the chain says a tip is. Amounts in base units of the token. */
export interface TipFacts {
  readonly recipient: string
  readonly sender: string
  readonly token: Token
  readonly received: bigint
  /** What is shown: the claimed amount when the chain bears it out, otherwise what was received. */
  readonly shown: bigint
  readonly feeFound: boolean
  readonly message: string | null
  readonly intentId: string | null
  /** Which claims agree with the facts, in the order of the input. */
  readonly agreeing: readonly boolean[]
}

/**
 * What did this transaction pay, to whom? Decided from balances over the whole transaction, never from
 * instructions (wallets add some) and never from the claim alone: through the intent it carries, else the claim
 * that agrees, else the one registered creator it pays. Undefined: nothing that is a tip.
 */
export function matchTip(chain: Associated, input: MatchInput): TipFacts | undefined {
  const { transaction, intents } = input
  for (const intent of intents) {
    const payment = paymentOf(chain, transaction, intent)
    if (payment !== undefined) return factsInTransaction(chain, input, payment, intent.id)
  }
  if (transaction.blockTime === undefined || transaction.blockTime < input.notBefore) return undefined
  for (const claim of credibleFirst(input)) {
    const token = tokenBySymbol(claim.tokenSymbol)
    const payment = token && findPayment(chain, transaction, claim.creatorWallet, token, claim.sender)
    if (payment?.sender === claim.sender) return factsInTransaction(chain, input, payment, null)
  }
  const payment = onlyPaymentTo(chain, input)
  return payment && factsInTransaction(chain, input, payment, null)
}

/**
 * A transaction may pay several wallets, and a stranger may claim any of them: claims for registered creators are
 * looked at before others, and the treasury, which only ever receives the fee of a tip, is no creator.
 */
function credibleFirst({ claims, creators, treasury }: MatchInput): Claim[] {
  const known = (claim: Claim): number => (creators.has(claim.creatorWallet) ? 0 : 1)
  return claims.filter((claim) => claim.creatorWallet !== treasury).sort((a, b) => known(a) - known(b))
}

/** Paid to exactly one registered creator in exactly one token: then it is clear what happened, whatever was claimed. */
function onlyPaymentTo(
  chain: Associated,
  { transaction, creators, treasury }: MatchInput,
): TokenPayment | undefined {
  const payments = [...creators]
    .filter((creator) => creator !== treasury)
    .flatMap((creator) => tokens.map((token) => findPayment(chain, transaction, creator, token)))
    .filter((payment) => payment !== undefined)
  return payments.length === 1 ? payments[0] : undefined
}

/** The output token came from a signer who gave the token that was to be swapped into it, or the output token itself. */
function paymentOf(
  chain: Associated,
  transaction: ChainTransaction,
  { payoutWallet, sourceWallet, inputMint, outputMint }: MatchableIntent,
): TokenPayment | undefined {
  const [input, output] = [tokenByMint(inputMint), tokenByMint(outputMint)]
  if (input === undefined || output === undefined) return undefined
  const swapped =
    input === output
      ? undefined
      : findSwapPayment(chain, transaction, payoutWallet, { input, output }, sourceWallet)
  return swapped ?? findPayment(chain, transaction, payoutWallet, output, sourceWallet)
}

function factsInTransaction(
  chain: Associated,
  { transaction, claims, treasury }: MatchInput,
  payment: TokenPayment,
  intentId: string | null,
): TipFacts {
  const fee = amountReceived(chain, transaction, treasury, payment.token)
  return factsFromPayment(claims, payment, payment.recipient !== treasury && fee > 0n ? fee : 0n, intentId)
}

/** What a payment makes of a tip and of what was claimed about it. `feeTransfer`: base units the treasury received. */
export function factsFromPayment(
  claims: readonly Claim[],
  payment: TokenPayment,
  feeTransfer: bigint,
  intentId: string | null,
): TipFacts {
  const { recipient, sender, token, received, given } = payment
  const agreeing = claims.map((claim) => claimAgrees(claim, { ...payment, intentId }))
  const consistent = claims.filter((_, index) => agreeing[index])
  // Of a swap what arrived is shown: what was claimed may be an amount of the other token.
  const shown = (given === undefined ? consistent : [])
    .map((claim) => supportedAmount(claim, token, received, feeTransfer))
    .find((units) => units !== undefined)
  return {
    recipient,
    sender,
    token,
    received,
    shown: shown ?? received,
    feeFound: feeTransfer > 0n,
    intentId,
    agreeing,
    message: chooseMessage(consistent, intentId),
  }
}
