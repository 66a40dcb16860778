/** `started`: the provider is working on it. `attention`: it waits for somebody at the provider's own pages. */
export type RefundState = 'started' | 'attention' | 'paid' | 'failed'

/** The provider's record of money that goes back to a payer. */
export interface ProviderRefund {
  /** The provider's id of the refund. */
  readonly id: string
  /** The provider's id of the payment. */
  readonly transaction: string
  readonly kobo: bigint
  readonly state: RefundState
  /** The provider's id of the dispute that this refund ends, else null. */
  readonly dispute: string | null
  /** The note of its request. Empty: none. */
  readonly note: string
}

/** A refund to request. */
interface NewRefund {
  readonly transaction: string
  readonly kobo: bigint
  /** For the provider's own pages. */
  readonly note: string
}

/**
 * Returns naira to their payers. The provider has no idempotency key for refunds: whoever requests one makes sure that none
 * was requested before.
 */
export interface Refunds {
  /**
   * Requests a refund. Throws ProviderError: `rejected` when the provider certainly did not take it, with its own text as the
   * message; `unavailable` when it certainly did not take it because of our account, such as its balance, or the request did not
   * reach it; `ambiguous` for everything else.
   */
  request(refund: NewRefund): Promise<ProviderRefund>
  /** The refunds of a payment since a time, oldest first. Throws ProviderError. */
  list(transaction: string, since: Date): Promise<ProviderRefund[]>
  /**
   * All refunds requested between two times, newest first, page by page. What cannot be read is left out, and an
   * error ends the list. Throws ProviderError.
   */
  listAll(from: Date, to: Date): AsyncIterable<readonly ProviderRefund[]>
}
