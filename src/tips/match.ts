import { solMint, type Token, tokenByMint, tokenBySymbol, tokens } from '../kernel/tokens.js'
import type { Chain, ChainTransaction } from '../providers/chain/port.js'
import type { Claim } from './claim.js'

/** What the service issued: to whom a transaction carrying the intent's reference key is meant to go. */
export interface IssuedIntent {
  readonly id: string
  readonly payoutWallet: string
  /** The wallet it was issued for; whoever signs may pay it. */
  readonly sourceWallet: string
  readonly outputMint: string
}

export interface MatchInput {
  readonly transaction: ChainTransaction
  /** Intents whose reference key the transaction carries. */
  readonly intents: readonly IssuedIntent[]
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

interface Payment {
  readonly recipient: string
  readonly sender: string
  readonly token: Token
  readonly received: bigint
}

type Associated = Pick<Chain, 'associatedAccount'>

/**
 * What did this transaction pay, to whom? Decided from balances over the whole transaction, never from
 * instructions (wallets add some) and never from the claim alone: through the intent it carries, else the claim
 * that agrees, else the one registered creator it pays. Undefined: nothing that is a tip.
 */
export function matchTip(chain: Associated, input: MatchInput): TipFacts | undefined {
  const { transaction, intents } = input
  for (const intent of intents) {
    const token = tokenByMint(intent.outputMint)
    const payment = token && paymentTo(chain, transaction, intent.payoutWallet, token, intent.sourceWallet)
    if (payment !== undefined) return factsOf(chain, input, payment, intent.id)
  }
  if (transaction.blockTime === undefined || transaction.blockTime < input.notBefore) return undefined
  for (const claim of credibleFirst(input)) {
    const token = tokenBySymbol(claim.tokenSymbol)
    const payment = token && paymentTo(chain, transaction, claim.creatorWallet, token, claim.sender)
    if (payment?.sender === claim.sender) return factsOf(chain, input, payment, null)
  }
  const payment = onlyPaymentTo(chain, input)
  return payment && factsOf(chain, input, payment, null)
}

/**
 * A transaction may pay several wallets, and a stranger may claim any of them: claims for registered creators are
 * looked at before others, and the treasury, which only ever receives the fee of a tip, is no creator.
 */
function credibleFirst({ claims, creators, treasury }: MatchInput): Claim[] {
  const known = (claim: Claim): number => (creators.has(claim.creatorWallet) ? 0 : 1)
  return claims.filter((claim) => claim.creatorWallet !== treasury).sort((a, b) => known(a) - known(b))
}

/**
 * The payment of one token to a wallet, if a signer other than the wallet paid it. Where several signers lost
 * enough (a sponsor pays the rent of accounts, say), the one who was expected to pay is the sender.
 */
function paymentTo(
  chain: Associated,
  transaction: ChainTransaction,
  recipient: string,
  token: Token,
  expectedSender?: string,
): Payment | undefined {
  // A recipient who signs may be paying himself, or be party to pulling the money back.
  if (transaction.signers.has(recipient)) return undefined
  const received = receivedBy(chain, transaction, recipient, token)
  if (received <= 0n) return undefined
  const senders = [...transaction.signers].filter((signer) => isDebited(transaction, signer, token, received))
  const sender = senders.find((signer) => signer === expectedSender) ?? senders[0]
  return sender === undefined ? undefined : { recipient, sender, token, received }
}

/** SOL: the wallet itself. A token: the wallet's one associated account, classic program, owned by it all along. */
function receivedBy(
  chain: Associated,
  transaction: ChainTransaction,
  wallet: string,
  { mint }: Token,
): bigint {
  if (mint === solMint) return transaction.lamports.get(wallet) ?? 0n
  const mine = transaction.tokens.filter(
    (change) =>
      change.mint === mint &&
      change.classic &&
      change.ownerAfter === wallet &&
      (change.ownerBefore === undefined || change.ownerBefore === wallet),
  )
  if (mine.length === 0) return 0n
  const account = chain.associatedAccount(wallet, mint)
  return mine.find((change) => change.account === account)?.delta ?? 0n
}

/** Whether a wallet lost at least what arrived, the network fee not counted. */
function isDebited(transaction: ChainTransaction, wallet: string, token: Token, received: bigint): boolean {
  return -changeOf(transaction, wallet, token) >= received
}

function changeOf(transaction: ChainTransaction, wallet: string, { mint }: Token): bigint {
  if (mint === solMint) {
    const networkFee = wallet === transaction.feePayer ? transaction.networkFee : 0n
    return (transaction.lamports.get(wallet) ?? 0n) + networkFee
  }
  // An account made in the transaction counts too: what moved into it is not spent.
  const owned = transaction.tokens.filter(
    (change) => change.mint === mint && (change.ownerBefore ?? change.ownerAfter) === wallet,
  )
  return owned.reduce((sum, { delta }) => sum + delta, 0n)
}

/** Paid to exactly one registered creator in exactly one token: then it is clear what happened, whatever was claimed. */
function onlyPaymentTo(
  chain: Associated,
  { transaction, creators, treasury }: MatchInput,
): Payment | undefined {
  const payments = [...creators]
    .filter((creator) => creator !== treasury)
    .flatMap((creator) => tokens.map((token) => paymentTo(chain, transaction, creator, token)))
    .filter((payment) => payment !== undefined)
  return payments.length === 1 ? payments[0] : undefined
}

function factsOf(
  chain: Associated,
  { transaction, claims, treasury }: MatchInput,
  payment: Payment,
  intentId: string | null,
): TipFacts {
  const { recipient, sender, token, received } = payment
  const fee = receivedBy(chain, transaction, treasury, token)
  const feeLeg = recipient !== treasury && fee > 0n ? fee : 0n
  const agreeing = claims.map((claim) => agreesWith(claim, payment))
  const consistent = claims.filter((_, index) => agreeing[index])
  const shown = consistent
    .map((claim) => claimedUnits(claim, token, received, feeLeg))
    .find((units) => units !== undefined)
  return {
    recipient,
    sender,
    token,
    received,
    shown: shown ?? received,
    feeFound: feeLeg > 0n,
    intentId,
    agreeing,
    message: chooseMessage(consistent, intentId),
  }
}

/** Whether a claim names the recipient, sender and token the chain shows. */
export function agreesWith(
  claim: Claim,
  facts: { recipient: string; sender: string; token: Token },
): boolean {
  return (
    claim.creatorWallet === facts.recipient &&
    claim.sender === facts.sender &&
    tokenBySymbol(claim.tokenSymbol) === facts.token
  )
}

/** The message of the claim that names the intent wins; else the first one given. */
export function chooseMessage(consistent: readonly Claim[], intentId: string | null): string | null {
  const tied =
    intentId === null
      ? undefined
      : consistent.find((claim) => claim.intentId === intentId && claim.message !== null)
  return (tied ?? consistent.find((claim) => claim.message !== null))?.message ?? null
}

/** The claimed amount in base units, if it lies between what the creator received and that plus the fee leg, give or take one unit. */
function claimedUnits(claim: Claim, token: Token, received: bigint, feeLeg: bigint): bigint | undefined {
  const display = unitsOfText(claim.amount, token.decimals)
  // A token claim is stored as it was given, in raw or in display units; SOL always became display units.
  const raw = token.mint === solMint ? undefined : unitsOfText(claim.amount, 0)
  return [raw, display].find(
    (units) => units !== undefined && units >= received - 1n && units <= received + feeLeg + 1n,
  )
}

/** Exact decimal text as base units; undefined when it has more decimals than the token. */
function unitsOfText(text: string, decimals: number): bigint | undefined {
  const [whole = '', fraction = ''] = text.split('.')
  const digits = fraction.replace(/0+$/, '')
  if (digits.length > decimals) return undefined
  return BigInt(whole + digits.padEnd(decimals, '0'))
}
