import { least } from '../../kernel/money.js'

/** The provider's balance against our books. Kobo. */
export interface FloatFacts {
  /** As the provider shows it. */
  readonly balance: bigint
  /**
   * What `float_ngn` had before the balance was read, and what it has now. A payout that is booked between the two may have been
   * taken before the balance was read, or after.
   */
  readonly bookBefore: bigint
  readonly bookNow: bigint
  /** What `collections_receivable` has: payments that the provider owes us. */
  readonly collections: bigint
  /** What `in_transit` has: naira of a sale or of the owners on their way to the provider. */
  readonly inTransit: bigint
  /** At most so much has the provider taken that is not booked yet: payouts and refunds under way. */
  readonly underWay: bigint
}

export interface FloatMove {
  /** Moves from `collections_receivable` and from `in_transit` to `float_ngn`. */
  readonly settled: bigint
  readonly arrived: bigint
  /** Above zero: the provider has more than the books can explain; below zero: less. */
  readonly unexplained: bigint
}

const positive = (amount: bigint): bigint => (amount > 0n ? amount : 0n)

/**
 * What a reading proves. The balance is the book, plus what has settled since, less what the provider has taken of what is under
 * way. Only the part above the book has certainly settled, so with payouts under way too little moves, never too much; the rest
 * follows as they end. A lack is unexplained only beyond all that is under way.
 */
export function decideFloat(facts: FloatFacts): FloatMove {
  const { balance, bookBefore, bookNow, collections, inTransit, underWay } = facts
  const surplus = positive(balance - (bookBefore > bookNow ? bookBefore : bookNow))
  const settled = least(surplus, positive(collections))
  const arrived = least(surplus - settled, positive(inTransit))
  const lack = positive(least(bookBefore, bookNow) - balance - underWay)
  return { settled, arrived, unexplained: surplus - settled - arrived - lack }
}
