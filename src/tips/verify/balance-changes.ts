import { solMint, type Token } from '../../kernel/tokens.js'
import type { Chain, ChainTransaction } from '../../ports/chain.js'

/** What one wallet was paid in one token, and by whom. `received` in base units. */
export interface TokenPayment {
  readonly recipient: string
  readonly sender: string
  readonly token: Token
  readonly received: bigint
  /** Of a swap: the token that was given for it. */
  readonly given?: Token
}

export type Associated = Pick<Chain, 'associatedAccount'>

/**
 * The payment of one token to a wallet, if a signer other than the wallet paid it. Where several signers lost
 * enough (a sponsor pays the rent of accounts, say), the one who was expected to pay is the sender.
 */
export function findPayment(
  chain: Associated,
  transaction: ChainTransaction,
  recipient: string,
  token: Token,
  expectedSender?: string,
): TokenPayment | undefined {
  return paymentFrom(chain, transaction, recipient, token, expectedSender, (signer, received) =>
    isDebited(transaction, signer, token, received),
  )
}

/**
 * What a swap brought a wallet, if a signer other than the wallet gave some of the token that was to be swapped. How
 * much of it is the engine's affair: the creator is credited what arrived.
 */
export function findSwapPayment(
  chain: Associated,
  transaction: ChainTransaction,
  recipient: string,
  { input, output }: { readonly input: Token; readonly output: Token },
  expectedSender: string,
): TokenPayment | undefined {
  const payment = paymentFrom(chain, transaction, recipient, output, expectedSender, (signer) =>
    isDebited(transaction, signer, input, 1n),
  )
  return payment && { ...payment, given: input }
}

/** What a wallet received of a token, if a signer other than the wallet `gave` for it. */
function paymentFrom(
  chain: Associated,
  transaction: ChainTransaction,
  recipient: string,
  token: Token,
  expectedSender: string | undefined,
  gave: (signer: string, received: bigint) => boolean,
): TokenPayment | undefined {
  // A recipient who signs may be paying himself, or be party to pulling the money back.
  if (transaction.signers.has(recipient)) return undefined
  const received = amountReceived(chain, transaction, recipient, token)
  if (received <= 0n) return undefined
  const senders = [...transaction.signers].filter((signer) => gave(signer, received))
  const sender = senders.find((signer) => signer === expectedSender) ?? senders[0]
  return sender === undefined ? undefined : { recipient, sender, token, received }
}

/** SOL: the wallet itself. A token: the wallet's one associated account, classic program, owned by it all along. */
export function amountReceived(
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
  return -balanceChange(transaction, wallet, token) >= received
}

/** How a wallet's holding of a token changed, in base units, the network fee not counted. */
export function balanceChange(transaction: ChainTransaction, wallet: string, { mint }: Token): bigint {
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
