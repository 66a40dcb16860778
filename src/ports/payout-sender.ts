import type { BankAccount } from './payouts.js'

/** A payout as it is sent. */
export interface NewPayout {
  /** Ours, the same however often it is sent: 16 to 50 of `a-z0-9_-`. */
  readonly reference: string
  readonly amountKobo: bigint
  /** The provider's code of the payee. */
  readonly recipient: string
  /** What the payee reads, at most 100 characters. */
  readonly narration: string
}

/**
 * The provider that pays out, for the one module that sends. Both methods throw ProviderError. `rejected`: it documents
 * that it does not pay this payee, with its own text as the message; nothing was executed. `unavailable`: this request
 * surely executed nothing and may be repeated, faults of our account included. `ambiguous`: everything else.
 */
export interface PayoutSender {
  /** Makes an account somebody to send to. Moves nothing. Returns the provider's code. */
  createRecipient(account: BankAccount & { readonly accountName: string }): Promise<string>
  /** Sends the money. Returns the provider's id of an accepted transfer. */
  send(payout: NewPayout): Promise<string>
}
