/** A bank account that naira may go to. */
export interface BankAccount {
  /** Three digits. */
  readonly bankCode: string
  /** Ten digits. */
  readonly accountNumber: string
}

export interface Bank {
  readonly code: string
  readonly name: string
}

/**
 * How far a transfer is. `accepted`: taken, not begun; `started`: on its way to the bank; `paid`; `failed`: the money did
 * not leave; `returned`: it left and came back.
 */
export type TransferState = 'accepted' | 'started' | 'paid' | 'failed' | 'returned'

/** A transfer as the provider knows it. */
export interface ProviderTransfer {
  /** The provider's own id. */
  readonly id: string
  /** Ours, as it was sent. */
  readonly reference: string
  readonly amountKobo: bigint
  readonly currency: string
  readonly state: TransferState
  /** The bank's words for one that failed or came back. */
  readonly reason: string | null
}

/**
 * What the provider that pays out knows and tells. Nothing here moves money. Every method throws ProviderError:
 * `rejected` when it refuses what is asked, `unavailable` and `ambiguous` when there is no usable answer.
 */
export interface Payouts {
  /**
   * Whether the provider documents that it refuses a reference it has executed: only then may a payout of unknown fate be
   * sent once more, under the same reference.
   */
  readonly deduplicates: boolean
  /** A transfer by our reference. Undefined: it finds none now, which proves nothing about a moment ago. */
  find(reference: string): Promise<ProviderTransfer | undefined>
  /** All transfers that were made between two moments, newest first, page by page. */
  list(from: Date, to: Date): AsyncIterable<readonly ProviderTransfer[]>
  /** The banks it pays to whose codes have three digits. */
  banks(): Promise<Bank[]>
  /** The name of the account's holder. */
  resolveName(account: BankAccount): Promise<string>
}
