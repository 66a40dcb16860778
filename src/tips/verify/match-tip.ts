import { unitsOfText } from '../../kernel/money.js'
import { solMint, type Token, tokenByMint, tokenBySymbol, tokens } from '../../kernel/tokens.js'
import type { ChainTransaction } from '../../ports/chain.js'
import { microUsd } from '../read/present.js'
import { type Claim, solDecimals } from '../record/claim.js'
import {
  type AssociatedAccounts,
  amountReceived,
  creditsOf,
  debitsAny,
  findPayment,
  findSwapPayment,
  possibleLosses,
  type TokenPayment,
} from './balance-changes.js'
import { chooseMessage, type IntentMessage, type MessageRule, type TimedClaim } from './choose-message.js'

/** The part of a payment intent that a transaction is compared with. */
export interface MatchableIntent extends IntentMessage {
  readonly payoutWallet: string
  /** The creator's custody wallet, where the payout wallet is the creator's own. */
  readonly custodyWallet?: string | null
  /** The wallet the transaction was built for. Another signer may pay it too. */
  readonly sourceWallet: string
  readonly inputMint: string
  /** Differs from the input for a swap. */
  readonly outputMint: string
  /** The least the creator must receive, in base units of the output. Less does not pay the intent. */
  readonly leastRaw: bigint
}

export interface MatchInput {
  readonly transaction: ChainTransaction
  /** Intents whose reference key the transaction contains, or whose message it signs unchanged; else those that look like it. */
  readonly intents: readonly MatchableIntent[]
  /** Oldest first. */
  readonly claims: readonly TimedClaim[]
  /** Custody wallets of registered creators among the accounts of the transaction. */
  readonly creators: ReadonlySet<string>
  /** The wallets of their own to which creators have their tips sent, with their custody wallets. */
  readonly payoutWallets?: ReadonlyMap<string, string>
  /** Last known prices in USD by mint, as decimal text. */
  readonly prices: ReadonlyMap<string, string>
  readonly treasury: string
  /** Without an intent, an earlier transaction is not a tip: anyone could claim an old transfer between strangers. */
  readonly notBefore: Date
}

/** The facts of a tip, proven by the chain. Amounts are in base units of the token. */
export interface TipFacts {
  readonly recipient: string
  /** The custody wallet of the creator to whose own wallet the tip went: the tip is the creator's (docs/decisions/0064). */
  readonly custodyWallet?: string | undefined
  readonly sender: string
  readonly token: Token
  readonly received: bigint
  /** Of a direct transfer what the supporter gave: `received` and the fee transfer (docs/decisions/0007). */
  readonly displayed: bigint
  /** Whether the treasury received a fee in this transaction. Of a swap in either token; an engine may pay it elsewhere. */
  readonly feeFound: boolean
  readonly message: string | null
  /** No later claim replaces the message. */
  readonly messageByIntent: boolean
  readonly intentId: string | null
  /** The intent that this transaction carries and pays too little for. It stays unpaid. */
  readonly underpaidIntentId: string | null
  /** What each custody wallet received, in micro-USDC (docs/decisions/0007). */
  readonly credits: ReadonlyMap<string, bigint>
  /** For each claim of the input, in order: whether it agrees with the facts, or with those of a further payee. */
  readonly agreeing: readonly boolean[]
  /** The tips to other creators in the same transaction. Their money is in `credits` above. */
  readonly further?: readonly TipFacts[]
}

interface PaidIntent<Intent extends IntentMessage = IntentMessage> {
  readonly intent: Intent | undefined
  readonly isUnderpaid: boolean
}

/**
 * Decides which tip a transaction pays, from balance changes over the whole transaction (docs/decisions/0007): never from
 * its instructions, because wallets add some, and never from a claim alone. First match wins: the payment of an intent,
 * then the largest payment to a registered creator, then, if no creator was paid, a payment that an intent or a claim
 * names. Every other creator that it pays has a further tip. Undefined: it pays no tip. A transaction that debits a
 * creator's custody wallet never pays one.
 */
export function matchTip(chain: AssociatedAccounts, input: MatchInput): TipFacts | undefined {
  const { transaction, creators, notBefore } = input
  if (debitsAny(transaction, creators)) return undefined
  const carried = likeliestFirst(input).flatMap((intent) => {
    const payment = paymentOfIntent(chain, transaction, intent)
    return payment === undefined ? [] : [{ intent, payment, isUnderpaid: payment.received < intent.leastRaw }]
  })
  const paid = carried.filter(({ isUnderpaid }) => !isUnderpaid)
  const [short] = carried
  const isOld = transaction.blockTime === undefined || transaction.blockTime < notBefore
  const largest = isOld && short === undefined ? [] : largestPayments(chain, input, short?.payment)
  const notOfIntent = largest[0] ?? short?.payment ?? (isOld ? undefined : claimedPayment(chain, input))
  const main: Paid | undefined =
    paid[0] ?? (notOfIntent && { payment: notOfIntent, intent: short?.intent, isUnderpaid: true })
  if (main === undefined) return undefined
  const others = isOld ? [] : largest.map((payment) => ({ payment, intent: undefined, isUnderpaid: false }))
  const [first, ...further] = onePerRecipient([main, ...paid, ...others]).map((one, _, all) =>
    factsInTransaction(chain, input, one, all),
  ) as [TipFacts, ...TipFacts[]]
  if (further.length === 0) return first
  const agreeing = first.agreeing.map((agrees, claim) => agrees || further.some((one) => one.agreeing[claim]))
  return { ...first, agreeing, further: further.map((one) => ({ ...one, credits: new Map() })) }
}

/** Of intents that only look like what was paid, those come first that a claim names, in the order of the claims. */
function likeliestFirst({ intents, claims }: MatchInput): readonly MatchableIntent[] {
  if (intents.some(({ isCertain }) => isCertain)) return intents
  const placeOf = ({ id }: MatchableIntent): number => {
    const place = claims.findIndex(({ intentId }) => intentId === id)
    return place < 0 ? claims.length : place
  }
  return intents.toSorted((one, other) => placeOf(one) - placeOf(other))
}

interface Paid extends PaidIntent<MatchableIntent> {
  readonly payment: TokenPayment
}

/** What a wallet received pays one tip and one intent. */
function onePerRecipient(paid: readonly Paid[]): Paid[] {
  const recipients = paid.map(({ payment }) => payment.recipient)
  return paid.filter(({ payment }, index) => recipients.indexOf(payment.recipient) === index)
}

/**
 * The payments to registered creators, to the one who received most in USD first: to each the largest of its tokens. Claims do
 * not decide it: a transaction may pay several wallets, and anyone may claim any of them. `ofIntent`: the payment of an
 * intent, which may be a swap.
 */
function largestPayments(
  chain: AssociatedAccounts,
  input: MatchInput,
  ofIntent: TokenPayment | undefined,
): TokenPayment[] {
  const { transaction, creators, claims, prices, treasury } = input
  const worth = ({ token, received }: TokenPayment): bigint =>
    microUsd({ ...token, displayRaw: String(received), usd: prices.get(token.mint) ?? null })
  const paymentIn = (creator: string, token: Token): TokenPayment | undefined => {
    if (ofIntent?.recipient === creator && ofIntent.token === token) return ofIntent
    const senders = claims.filter(({ creatorWallet }) => creatorWallet === creator)
    return findPayment(
      chain,
      transaction,
      creator,
      token,
      senders.map(({ sender }) => sender),
    )
  }
  const largest = [...creators].sort().flatMap((creator) => {
    if (creator === treasury) return []
    const payments = tokens.flatMap((token) => paymentIn(creator, token) ?? [])
    const [payment] = payments.toSorted((a, b) => compare(worth(b), worth(a)))
    const total = payments.reduce((sum, one) => sum + worth(one), 0n)
    return payment === undefined ? [] : [{ total, payment }]
  })
  return largest.toSorted((a, b) => compare(b.total, a.total)).map(({ payment }) => payment)
}

/** The payment to an unregistered wallet that a claim describes. The treasury only receives fees. */
function claimedPayment(
  chain: AssociatedAccounts,
  { transaction, claims, treasury }: MatchInput,
): TokenPayment | undefined {
  for (const { creatorWallet, sender, tokenSymbol } of claims) {
    const token = creatorWallet === treasury ? undefined : tokenBySymbol(tokenSymbol)
    const payment = token && findPayment(chain, transaction, creatorWallet, token, [sender])
    if (payment?.sender === sender) return payment
  }
  return undefined
}

function compare(a: bigint, b: bigint): number {
  return a === b ? 0 : a < b ? -1 : 1
}

/**
 * The payment of an intent, of any amount. A signer gave the input token and the creator received the output token, or a
 * signer gave the output token itself.
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
      : findSwapPayment(chain, transaction, payoutWallet, { input, output }, [sourceWallet])
  return swapped ?? findPayment(chain, transaction, payoutWallet, output, [sourceWallet])
}

function factsInTransaction(
  chain: AssociatedAccounts,
  { transaction, claims, creators, payoutWallets, treasury }: MatchInput,
  { payment, ...paid }: Paid,
  all: readonly Paid[],
): TipFacts {
  const fee = payment.recipient === treasury ? 0n : feeTransferOf(chain, transaction, payment, treasury)
  const sameToken = all.filter((one) => one.payment.token === payment.token)
  const received = sameToken.reduce((sum, one) => sum + one.payment.received, 0n)
  // The intent says whose wallet it was then: it may be nobody's or another creator's by now.
  const isOfIntent = paid.intent?.payoutWallet === payment.recipient
  return factsFromPayment(claims, payment, {
    ...paid,
    custodyWallet: isOfIntent ? paid.intent?.custodyWallet : payoutWallets?.get(payment.recipient),
    paidAt: transaction.blockTime,
    // Payees of one token share its fee by what they received.
    feeTransfer: (fee * payment.received) / received,
    credits: creditsOf(chain, transaction, creators, treasury),
  })
}

/**
 * Of a direct transfer, what the treasury received from the sender. When several signers may have paid, every one of them
 * must have lost that much, so that the amount does not depend on which of them a claim names.
 */
function feeTransferOf(
  chain: AssociatedAccounts,
  transaction: ChainTransaction,
  payment: TokenPayment,
  treasury: string,
): bigint {
  const { token, given, received } = payment
  const feeIn = (one: Token): bigint => {
    const change = amountReceived(chain, transaction, treasury, one)
    return change > 0n ? change : 0n
  }
  if (given !== undefined) return [feeIn(token), feeIn(given)].find((fee) => fee > 0n) ?? 0n
  const rests = possibleLosses(transaction, payment).map((lost) => lost - received)
  return [feeIn(token), ...rests].reduce((least, one) => (one < least ? one : least))
}

interface PaymentContext extends PaidIntent, MessageRule, Pick<TipFacts, 'credits'> {
  readonly custodyWallet: string | null | undefined
  /** Base units that the treasury received. */
  readonly feeTransfer: bigint
}

/** The facts of a payment and the claims it supports. */
export function factsFromPayment(
  claims: readonly TimedClaim[],
  payment: TokenPayment,
  { custodyWallet, feeTransfer, credits, intent, isUnderpaid, ...rule }: PaymentContext,
): TipFacts {
  const { recipient, sender, token, received, given } = payment
  const intentId = intent?.id ?? null
  const agreeing = claims.map((claim) => claimAgrees(claim, { ...payment, intentId }))
  const { message, byIntent } = chooseMessage(
    claims.filter((_, index) => agreeing[index]),
    { ...rule, intent },
  )
  return {
    recipient,
    custodyWallet: custodyWallet ?? undefined,
    sender,
    token,
    received,
    // A swap displays the received amount, because the given amount is in the input token.
    displayed: given === undefined ? received + feeTransfer : received,
    feeFound: feeTransfer > 0n,
    intentId: isUnderpaid ? null : intentId,
    underpaidIntentId: isUnderpaid ? intentId : null,
    credits,
    agreeing,
    message,
    messageByIntent: byIntent,
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

/** The amounts in base units that a claimed amount may mean. */
export function possibleUnits(claim: Claim, token: Token): bigint[] {
  const display = unitsOfText(claim.amount, token.decimals)
  if (token.mint === solMint) return display === undefined ? [] : [display]
  // A claim in a token is stored as sent, in base or display units. One without a token symbol was divided like SOL.
  const raw = unitsOfText(claim.amount, claim.tokenSymbol === defaultSymbol ? solDecimals : 0)
  return [raw, display].filter((units) => units !== undefined)
}
