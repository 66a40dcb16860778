import { solMint, tokenByMint } from '../../kernel/tokens.js'
import { type CustodyBook, type CustodyMove, unboundOf } from '../../ledger/custody.js'
import { rentExemptLamports } from '../../ports/chain.js'
import type { Payment, ReadMessage, TokenSource } from '../../ports/custody-chain.js'
import { faultOfMessage } from './check-message.js'

/** A move as its row says, and what the other rows and the chain say about it. */
export interface MoveFacts extends CustodyMove {
  /** The creator's custody wallet; undefined without one. */
  readonly wallet: string | undefined
  /** A unique key that the payment names. */
  readonly referenceKey?: string
  /** Where the rule of this kind of row lets it go; undefined: nowhere. */
  readonly destination: string | undefined
  /** How much the rule lets go. */
  readonly limit: bigint
  readonly book: CustodyBook | undefined
  /** The two accounts on the chain; undefined: not read. */
  readonly source: TokenSource | undefined
  readonly target: TokenSource | undefined
}

export interface SigningFacts {
  readonly payer: string
  readonly message: ReadMessage | undefined
  readonly moves: readonly MoveFacts[]
  readonly guards: ReadonlySet<string>
  /** Those of the payer and the destinations that are custody wallets themselves. */
  readonly custodyWallets: ReadonlySet<string>
  readonly associatedAccount: (wallet: string, mint: string) => string
}

/** Why nothing is signed. `userId`: whose move is the reason. */
export interface SigningFault {
  readonly reason: string
  /**
   * Faults that others act on. `beyond_book`: the rule or the book lets less go. `custody_short`: the chain holds less than the book.
   * `would_fail`: the chain would refuse the transaction. `restored`: nothing is signed after a restore, and what waits stays.
   */
  readonly kind?: 'beyond_book' | 'custody_short' | 'would_fail' | 'restored'
  readonly userId?: string
}

/** The payments of the moves, and why they must not be signed. */
export function decideSigning(facts: SigningFacts): SigningFault | undefined {
  const { moves, payer, custodyWallets } = facts
  if (moves.length === 0) return { reason: 'it moves nothing' }
  const names = new Set(moves.map(({ userId, mint }) => `${userId} ${mint}`))
  if (names.size !== moves.length) return { reason: 'a creator and token occur twice' }
  if (custodyWallets.has(payer)) return { reason: 'a custody wallet would pay the fee' }
  for (const move of moves) {
    const fault = faultOfMove(move, custodyWallets)
    if (fault !== undefined) return { userId: move.userId, ...fault }
  }
  const reason = faultOfMessage(facts.message, { ...facts, payments: moves.map(paymentOf) })
  return reason === undefined ? undefined : { reason }
}

export function paymentOf({
  wallet = '',
  destination = '',
  mint,
  amount,
  referenceKey,
}: Pick<MoveFacts, 'wallet' | 'destination' | 'mint' | 'amount' | 'referenceKey'>): Payment {
  const payment = { from: wallet, to: destination, mint, amount, decimals: tokenByMint(mint)?.decimals ?? 0 }
  return referenceKey === undefined ? payment : { ...payment, referenceKey }
}

function faultOfMove(
  move: MoveFacts,
  custodyWallets: ReadonlySet<string>,
): Omit<SigningFault, 'userId'> | undefined {
  const { amount, mint, wallet, destination, limit, book, source, target } = move
  if (tokenByMint(mint) === undefined) return { reason: 'the token is unknown' }
  if (wallet === undefined) return { reason: 'there is no custody wallet' }
  if (destination === undefined || destination === wallet || custodyWallets.has(destination))
    return { reason: 'it may not go there' }
  if (book === undefined || amount <= 0n || amount > limit || amount > unboundOf(book))
    return { reason: 'the book does not allow this much', kind: 'beyond_book' }
  if (source === undefined || target === undefined) return { reason: 'its accounts were not read' }
  if (source.fault !== undefined) return { reason: `the custody account is ${source.fault}` }
  if (target.fault === 'frozen' || target.fault === 'foreign')
    return { reason: `the account of the destination is ${target.fault}` }
  if (source.amount < unboundOf(book))
    return { reason: 'the chain has less than the book', kind: 'custody_short' }
  const left = source.amount - amount
  return mint === solMint && left !== 0n && left < rentExemptLamports
    ? { reason: 'what is left is too little to exist' }
    : undefined
}
