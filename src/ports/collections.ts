/** What a payer is asked to pay. Amounts are kobo. */
export interface ChargeRequest {
  /** Ours, the same for the life of the charge: 16 or more of `a-z0-9-`. */
  readonly reference: string
  readonly amountKobo: bigint
  /** Whom the provider writes to; it wants one for every charge. */
  readonly email: string
}

/** Where a payer transfers to. */
export interface TransferAccount {
  readonly bankName: string
  readonly accountNumber: string
  readonly accountName: string
}

/** Money that arrived for a charge. */
export interface Payment {
  /** The provider's own id of this payment, unique among all payments. */
  readonly transaction: string
  readonly kobo: bigint
  readonly paidAt: Date
}

/** What the provider knows of a charge. `unpaid`: nothing has arrived, and nothing has been refused. */
export type ChargeState =
  | { readonly status: 'unpaid' | 'failed' }
  | { readonly status: 'paid'; readonly newest: Payment }

/**
 * The provider that collects naira. Every method throws ProviderError: `rejected` when it refuses what is asked, with
 * its own text as the message; `unavailable` when it surely did nothing, faults of our account included; `ambiguous`
 * when it may have acted or its answer makes no sense.
 */
export interface Collections {
  /** A page on which the charge is paid. Returns its URL. */
  openCheckout(charge: ChargeRequest): Promise<string>
  /** A bank account that takes the charge until then. */
  openTransferAccount(charge: ChargeRequest, expiresAt: Date): Promise<TransferAccount>
  /** What became of a charge; of several payments the newest. */
  lookUp(reference: string): Promise<ChargeState>
  /** Every payment that arrived for a charge, oldest first. */
  payments(reference: string): Promise<Payment[]>
  /**
   * The reference a webhook is about, or null when it is about none. Undefined: it does not come from the provider.
   * `raw`: the body's very bytes; `header` reads a header of the request.
   */
  readWebhook(raw: Uint8Array, header: (name: string) => string): string | null | undefined
}
