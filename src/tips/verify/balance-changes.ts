import { solMint, type Token, usdc } from '../../kernel/tokens.js'
import type { Chain, ChainTransaction } from '../../ports/chain.js'

/** A payment of one token to one wallet. `received` is in base units. */
export interface TokenPayment {
  readonly recipient: string
  readonly sender: string
  readonly token: Token
  readonly received: bigint
  /** For a swap: the token the sender gave. */
  readonly given?: Token
}

export type AssociatedAccounts = Pick<Chain, 'associatedAccount'>

/**
 * The payment of one token to a wallet, if a signer other than the wallet paid it. Several signers may have lost
 * enough, for example a sponsor who pays the rent of accounts. Then the first of the expected senders is taken.
 */
export function findPayment(
  chain: AssociatedAccounts,
  transaction: ChainTransaction,
  recipient: string,
  token: Token,
  expectedSenders: readonly string[] = [],
): TokenPayment | undefined {
  return paymentFrom(chain, transaction, recipient, token, expectedSenders, (signer, received) =>
    isDebited(transaction, signer, token, received),
  )
}

/**
 * The payment of a swap's output token to a wallet, if a signer other than the wallet gave any amount of the input
 * token. The input amount is not checked: the creator is credited with the output that arrived.
 */
export function findSwapPayment(
  chain: AssociatedAccounts,
  transaction: ChainTransaction,
  recipient: string,
  { input, output }: { readonly input: Token; readonly output: Token },
  expectedSenders: readonly string[],
): TokenPayment | undefined {
  const payment = paymentFrom(chain, transaction, recipient, output, expectedSenders, (signer) =>
    isDebited(transaction, signer, input, 1n),
  )
  return payment && { ...payment, given: input }
}

/** The payment of one token to a wallet, if `gave` holds for a signer other than the wallet. */
function paymentFrom(
  chain: AssociatedAccounts,
  transaction: ChainTransaction,
  recipient: string,
  token: Token,
  expectedSenders: readonly string[],
  gave: (signer: string, received: bigint) => boolean,
): TokenPayment | undefined {
  // A recipient who signs may pay themselves, or take the money back in the same transaction.
  if (transaction.signers.has(recipient)) return undefined
  const received = amountReceived(chain, transaction, recipient, token)
  if (received <= 0n) return undefined
  const senders = [...transaction.signers].filter((signer) => gave(signer, received))
  const sender = expectedSenders.find((expected) => senders.includes(expected)) ?? senders[0]
  return sender === undefined ? undefined : { recipient, sender, token, received }
}

/**
 * SOL: the change of the wallet's lamports, and of those in its account of wrapped SOL. Another token: the change of the wallet's associated token account. It counts
 * only with the classic token program, and only if the wallet owned the account before and after.
 */
export function amountReceived(
  chain: AssociatedAccounts,
  transaction: ChainTransaction,
  wallet: string,
  { mint }: Token,
): bigint {
  if (mint === solMint) return solChange(chain, transaction, wallet)
  const owned = transaction.tokens.filter(
    (change) =>
      change.mint === mint &&
      change.classic &&
      change.ownerAfter === wallet &&
      (change.ownerBefore === undefined || change.ownerBefore === wallet),
  )
  if (owned.length === 0) return 0n
  const account = chain.associatedAccount(wallet, mint)
  return owned.find((change) => change.account === account)?.delta ?? 0n
}

/**
 * Wrapped SOL is SOL: closing the account gives the wallet everything in it, the rent too. Only the associated account counts, and only
 * while it is the wallet's.
 */
function solChange(chain: AssociatedAccounts, transaction: ChainTransaction, wallet: string): bigint {
  const { lamports, tokens } = transaction
  const own = lamports.get(wallet) ?? 0n
  const owned = tokens.filter(
    ({ mint, classic, ownerBefore = wallet, ownerAfter = wallet }) =>
      mint === solMint && classic && ownerBefore === wallet && ownerAfter === wallet,
  )
  if (owned.length === 0) return own
  const account = chain.associatedAccount(wallet, solMint)
  return owned.some((change) => change.account === account) ? own + (lamports.get(account) ?? 0n) : own
}

/** What the signers lost of a token, of those who lost at least `received`: any of them may have paid it. */
export function possibleLosses(
  transaction: ChainTransaction,
  { recipient, token, received }: TokenPayment,
): bigint[] {
  return [...transaction.signers]
    .filter((signer) => signer !== recipient && isDebited(transaction, signer, token, received))
    .map((signer) => -balanceChange(transaction, signer, token))
}

/** Whether a wallet lost at least `received`. The network fee does not count. */
function isDebited(transaction: ChainTransaction, wallet: string, token: Token, received: bigint): boolean {
  return -balanceChange(transaction, wallet, token) >= received
}

/** The change of a wallet's balance of a token, in base units. The network fee does not count. */
export function balanceChange(transaction: ChainTransaction, wallet: string, { mint }: Token): bigint {
  // Includes accounts created in the transaction: tokens moved into them are not spent.
  const owned = transaction.tokens.filter(
    (change) => change.mint === mint && (change.ownerBefore ?? change.ownerAfter) === wallet,
  )
  if (mint === solMint) {
    const networkFee = wallet === transaction.feePayer ? transaction.networkFee : 0n
    const wrapped = owned.map(({ account }) => transaction.lamports.get(account) ?? 0n)
    return wrapped.reduce((sum, one) => sum + one, (transaction.lamports.get(wallet) ?? 0n) + networkFee)
  }
  return owned.reduce((sum, { delta }) => sum + delta, 0n)
}

/**
 * Whether a transaction takes anything from one of the wallets: lamports, tokens, or the ownership of a token account. It
 * needs the signature of that wallet, so it is our own doing, or money that moves between creators: never a tip.
 */
export function debitsAny(
  { lamports, tokens }: Pick<ChainTransaction, 'lamports' | 'tokens'>,
  wallets: ReadonlySet<string>,
): boolean {
  if ([...wallets].some((wallet) => (lamports.get(wallet) ?? 0n) < 0n)) return true
  return tokens.some(
    ({ ownerBefore, ownerAfter, delta }) =>
      ownerBefore !== undefined && wallets.has(ownerBefore) && (delta < 0n || ownerAfter !== ownerBefore),
  )
}

/**
 * The micro-USDC that a transaction credits to each custody wallet: what arrived, whoever lost it (docs/decisions/0007). A
 * transaction that debits a custody wallet credits none. A wallet that signs is left out, as in `findPayment`; the treasury
 * only receives fees.
 */
export function creditsOf(
  chain: AssociatedAccounts,
  transaction: ChainTransaction,
  custodyWallets: ReadonlySet<string>,
  treasury: string,
): ReadonlyMap<string, bigint> {
  if (debitsAny(transaction, custodyWallets)) return new Map()
  const received = [...custodyWallets]
    .filter((wallet) => wallet !== treasury && !transaction.signers.has(wallet))
    .map((wallet) => [wallet, amountReceived(chain, transaction, wallet, usdc)] as const)
  return new Map(received.filter(([, amount]) => amount > 0n))
}
