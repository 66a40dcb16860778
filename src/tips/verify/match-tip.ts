import { solMint, type Token, tokenByMint, tokenBySymbol, tokens } from '../../kernel/tokens.js'
import type { ChainTransaction } from '../../ports/chain.js'
import { type Claim, solDecimals } from '../record/claim.js'
import {
  type AssociatedAccounts,
  amountReceived,
  findPayment,
  findSwapPayment,
  type TokenPayment,
} from './balance-changes.js'

/** The part of a payment intent that a transaction is compared with. */
export interface MatchableIntent {
  readonly id: string
  readonly payoutWallet: string
  /** The wallet the transaction was built for. Another signer may pay it too. */
  readonly sourceWallet: string
  readonly inputMint: string
  /** Differs from the input for a swap. */
  readonly outputMint: string
}

export interface MatchInput {
  readonly transaction: ChainTransaction
  /** Intents whose reference key the transaction contains, or whose message it signs unchanged. */
  readonly intents: readonly MatchableIntent[]
  /** Oldest first. */
  readonly claims: readonly Claim[]
  /** Wallets of registered creators among the accounts of the transaction. */
  readonly creators: ReadonlySet<string>
  readonly treasury: string
  /** Without an intent, an earlier transaction is not a tip: anyone could claim an old transfer between strangers. */
  readonly notBefore: Date
}

/** The facts of a tip, proven by the chain. Amounts are in base units of the token. */
export interface TipFacts {
  readonly recipient: string
  readonly sender: string
  readonly token: Token
  readonly received: bigint
  /** The claimed amount if the chain supports it, otherwise `received` (docs/decisions/0008). */
  readonly displayed: bigint
  readonly feeFound: boolean
  readonly message: string | null
  readonly intentId: string | null
  /** For each claim of the input, in order: whether it agrees with the facts. */
  readonly agreeing: readonly boolean[]
}

/**
 * Decides which tip a transaction pays, from balance changes over the whole transaction (docs/decisions/0007): never from
 * its instructions, because wallets add some, and never from a claim alone. First match wins: a payment of an intent,
 * then a payment a claim describes, then the only payment to a registered creator. Undefined: it pays no tip.
 */
export function matchTip(chain: AssociatedAccounts, input: MatchInput): TipFacts | undefined {
  const { transaction, intents } = input
  for (const intent of intents) {
    const payment = paymentOfIntent(chain, transaction, intent)
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
 * A transaction may pay several wallets, and anyone may claim any of them. Claims for registered creators are checked
 * first. Claims for the treasury are ignored, because it only receives fees.
 */
function credibleFirst({ claims, creators, treasury }: MatchInput): Claim[] {
  const rank = (claim: Claim): number => (creators.has(claim.creatorWallet) ? 0 : 1)
  return claims.filter((claim) => claim.creatorWallet !== treasury).sort((a, b) => rank(a) - rank(b))
}

/** The payment, if the transaction pays exactly one registered creator in exactly one token. Needs no claim. */
function onlyPaymentTo(
  chain: AssociatedAccounts,
  { transaction, creators, treasury }: MatchInput,
): TokenPayment | undefined {
  const payments = [...creators]
    .filter((creator) => creator !== treasury)
    .flatMap((creator) => tokens.map((token) => findPayment(chain, transaction, creator, token)))
    .filter((payment) => payment !== undefined)
  return payments.length === 1 ? payments[0] : undefined
}

/**
 * The payment of an intent. A signer gave the input token and the creator received the output token, or a signer gave the
 * output token itself.
 */
function paymentOfIntent(
  chain: AssociatedAccounts,
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
  chain: AssociatedAccounts,
  { transaction, claims, treasury }: MatchInput,
  payment: TokenPayment,
  intentId: string | null,
): TipFacts {
  const fee = amountReceived(chain, transaction, treasury, payment.token)
  return factsFromPayment(claims, payment, payment.recipient !== treasury && fee > 0n ? fee : 0n, intentId)
}

/** The facts of a payment and the claims it supports. `feeTransfer`: base units the treasury received. */
export function factsFromPayment(
  claims: readonly Claim[],
  payment: TokenPayment,
  feeTransfer: bigint,
  intentId: string | null,
): TipFacts {
  const { recipient, sender, token, received, given } = payment
  const agreeing = claims.map((claim) => claimAgrees(claim, { ...payment, intentId }))
  const supported = claims.filter((_, index) => agreeing[index])
  // A swap displays the received amount, because the claimed amount may be in the input token.
  const displayed = (given === undefined ? supported : [])
    .map((claim) => supportedAmount(claim, token, received, feeTransfer))
    .find((units) => units !== undefined)
  return {
    recipient,
    sender,
    token,
    received,
    displayed: displayed ?? received,
    feeFound: feeTransfer > 0n,
    intentId,
    agreeing,
    message: chooseMessage(supported, intentId),
  }
}

interface ComparedFacts {
  readonly recipient: string
  readonly sender: string
  readonly token: Token
  readonly given?: Token | undefined
  readonly intentId: string | null
}

/** The token of a claim without a token symbol (API: POST /chain/tips/create). */
const defaultSymbol = 'SOL'

/**
 * Whether a claim names the recipient, sender and token of the facts. For a swap, either token agrees. A claim that names
 * the right intent needs no token.
 */
export function claimAgrees(claim: Claim, facts: ComparedFacts): boolean {
  if (claim.creatorWallet !== facts.recipient || claim.sender !== facts.sender) return false
  const namesIntent = claim.intentId !== null && claim.intentId === facts.intentId
  if (namesIntent && claim.tokenSymbol === defaultSymbol) return true
  const token = tokenBySymbol(claim.tokenSymbol)
  return token !== undefined && (token === facts.token || token === facts.given)
}

/** The message of the first claim that names the intent, otherwise the first message. */
export function chooseMessage(agreeing: readonly Claim[], intentId: string | null): string | null {
  const ofIntent =
    intentId === null
      ? undefined
      : agreeing.find((claim) => claim.intentId === intentId && claim.message !== null)
  return (ofIntent ?? agreeing.find((claim) => claim.message !== null))?.message ?? null
}

/** The claimed amount in base units, if it is between `received` and `received + feeTransfer`, with one unit of tolerance. */
function supportedAmount(
  claim: Claim,
  token: Token,
  received: bigint,
  feeTransfer: bigint,
): bigint | undefined {
  return possibleUnits(claim, token).find(
    (units) => units >= received - 1n && units <= received + feeTransfer + 1n,
  )
}

/** The amounts in base units that a claimed amount may mean. */
export function possibleUnits(claim: Claim, token: Token): bigint[] {
  const display = unitsOfText(claim.amount, token.decimals)
  if (token.mint === solMint) return display === undefined ? [] : [display]
  // A claim in a token is stored as sent, in base or display units. One without a token symbol was divided like SOL.
  const raw = unitsOfText(claim.amount, claim.tokenSymbol === defaultSymbol ? solDecimals : 0)
  return [raw, display].filter((units) => units !== undefined)
}

/** Exact decimal text as base units. Undefined when it has more decimals than the token. */
function unitsOfText(text: string, decimals: number): bigint | undefined {
  const [whole = '', fraction = ''] = text.split('.')
  const digits = fraction.replace(/0+$/, '')
  if (digits.length > decimals) return undefined
  return BigInt(whole + digits.padEnd(decimals, '0'))
}
