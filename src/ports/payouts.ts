/** A bank account that naira may go to. */
export interface BankAccount {
  /** Three to six digits. */
  readonly bankCode: string
  /** Ten digits. */
  readonly accountNumber: string
}

export interface Bank {
  readonly code: string
  readonly name: string
}

/**
 * State of a provider transfer. `accepted`: not started yet; `started`: on its way to the bank; `paid`; `failed`: the
 * money did not leave; `returned`: the money left and came back.
 */
export type TransferState = 'accepted' | 'started' | 'paid' | 'failed' | 'returned'

/** The provider's record of a payout. */
export interface ProviderTransfer {
  /** The provider's id. */
  readonly id: string
  /** Our reference. */
  readonly reference: string
  readonly amountKobo: bigint
  /**
   * What the provider takes in addition. 0 when it does not say, as in some lists. A transfer that fails or comes back gives it
   * back too.
   */
  readonly feeKobo: bigint
  readonly currency: string
  readonly state: TransferState
  /** When it was created, and whom it pays; absent when the provider does not say. */
  readonly createdAt?: Date
  readonly payee?: BankAccount & { readonly accountName: string }
  /** The bank's reason for a transfer that failed or came back. */
  readonly reason: string | null
  /** Why it waits for somebody at the provider's own pages. Absent: it does not. */
  readonly attention?: string
}

/**
 * Queries to the provider that pays out. None of them moves money. Every method throws ProviderError: `rejected` when
 * the provider refuses the request, `unavailable` and `ambiguous` when there is no usable answer.
 */
export interface Payouts {
  /**
   * Whether the provider documents that it refuses a reference it has executed. Only then may a payout with an unknown
   * outcome be sent again, under the same reference.
   */
  readonly deduplicates: boolean
  /** A transfer by our reference. Undefined when there is none now; a request just sent may still create one. */
  findTransfer(reference: string): Promise<ProviderTransfer | undefined>
  /** All transfers created between two times, newest first, page by page. What cannot be read is left out, and an error ends the list. */
  listTransfers(from: Date, to: Date): AsyncIterable<readonly ProviderTransfer[]>
  /** The provider's naira that we can pay out now, in kobo. Negative when it is owed more than it holds for us. */
  readBalance(): Promise<bigint>
  /** The banks it pays to, without those whose code is not three to six digits. Each code once. */
  listBanks(): Promise<Bank[]>
  /** The name of the account holder. */
  resolveAccountName(account: BankAccount): Promise<string>
}
