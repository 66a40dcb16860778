/** A charge that a payer can pay. Amounts are kobo. */
export interface ChargeRequest {
  /** Our reference, fixed for the life of the charge: 16 or more of `a-z0-9-`. */
  readonly reference: string
  readonly amountKobo: bigint
  /** The payer's address, or a made-up one. The provider requires an address for every charge. */
  readonly email: string
  /** Kept by the provider with the charge: after a restore it says whose tip a payment was. */
  readonly creatorId?: string
}

/** The bank account that a payer transfers to. */
export interface TransferAccount {
  readonly bankName: string
  readonly accountNumber: string
  readonly accountName: string
}

/** Money that arrived for a charge. */
export interface Payment {
  /** The provider's id of this payment, unique among all payments. */
  readonly transaction: string
  readonly kobo: bigint
  /** What the provider kept of it. 0 when it does not say. It is not given back when the money goes back. */
  readonly feeKobo: bigint
  /**
   * The provider has given the money back, or the payer's bank has taken it: after a refund, a lost dispute, or a reversal
   * without either. Only the refunds and disputes of the payment say which, so this alone is no further loss.
   */
  readonly reversed: boolean
  readonly paidAt: Date
  /** A card paid it, or the provider does not say what did. The payer of a card can call the money back. */
  readonly byCard: boolean
  /** The creator whom the charge names. */
  readonly creatorId?: string
}

/** A payment in a list of all charges. */
export interface ListedPayment extends Payment {
  /** The reference of its charge. */
  readonly reference: string
}

/**
 * The state of a charge at the provider. `unpaid`: nothing has arrived, and nothing has been refused. `reversed`: its newest
 * payment arrived and is gone again.
 */
export type ChargeState =
  | { readonly status: 'unpaid' | 'failed' }
  | { readonly status: 'paid' | 'reversed'; readonly newest: Payment }

/**
 * The provider that collects naira. Every method throws ProviderError: `rejected` when the provider refuses the request,
 * with its own text as the message; `unavailable` when it surely did nothing, which includes faults of our account;
 * `ambiguous` when it may have acted or the answer cannot be understood.
 */
export interface Collections {
  /** Opens a page on which the charge can be paid. Returns its URL. */
  openCheckout(charge: ChargeRequest): Promise<string>
  /** Opens a bank account that accepts the charge until `expiresAt`. */
  openTransferAccount(charge: ChargeRequest, expiresAt: Date): Promise<TransferAccount>
  /** The state of a charge, with the newest payment if there are several. */
  findCharge(reference: string): Promise<ChargeState>
  /**
   * Every payment for a charge, oldest first, reversed ones too. An empty list proves nothing: the provider's filter is
   * undocumented.
   */
  listPayments(reference: string): Promise<Payment[]>
  /**
   * Every payment of a charge that was begun between two times, newest first, page by page, reversed ones too. A charge can be
   * paid long after it was begun. What cannot be read is left out, and an error ends the list.
   */
  listAllPayments(from: Date, to: Date): AsyncIterable<readonly ListedPayment[]>
  /** Of these, the reversed ones only. A provider that does not know this filter shows some of them, or none. */
  listReversedPayments(from: Date, to: Date): AsyncIterable<readonly ListedPayment[]>
  /**
   * The reference of the charge or the transfer that a webhook names, or null when it names none. A webhook about a dispute or
   * a refund names the charge: it only says that there is news of it. Undefined when the signature is wrong, so the
   * webhook is not the provider's. `raw`: the exact bytes of the body; `header` reads a request header.
   */
  readWebhook(raw: Uint8Array, header: (name: string) => string): string | null | undefined
}
