/** A charge that a payer can pay. Amounts are kobo. */
export interface ChargeRequest {
  /** Our reference, fixed for the life of the charge: 16 or more of `a-z0-9-`. */
  readonly reference: string
  readonly amountKobo: bigint
  /** The payer's address, or a made-up one. The provider requires an address for every charge. */
  readonly email: string
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
  readonly paidAt: Date
}

/** The state of a charge at the provider. `unpaid`: nothing has arrived, and nothing has been refused. */
export type ChargeState =
  | { readonly status: 'unpaid' | 'failed' }
  | { readonly status: 'paid'; readonly newest: Payment }

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
  /** Every payment for a charge, oldest first. An empty list proves nothing: the provider's filter is undocumented. */
  listPayments(reference: string): Promise<Payment[]>
  /**
   * The reference that a webhook names, or null when it names none. Undefined when the signature is wrong, so the
   * webhook is not the provider's. `raw`: the exact bytes of the body; `header` reads a request header.
   */
  readWebhook(raw: Uint8Array, header: (name: string) => string): string | null | undefined
}
