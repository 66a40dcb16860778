import type { BankAccount } from './payouts.js'

/** A payout to send. */
export interface NewPayout {
  /** Our reference, the same in every attempt: 16 to 50 of `a-z0-9_-`. */
  readonly reference: string
  readonly amountKobo: bigint
  /** The provider's code of the payee. */
  readonly recipient: string
  /** The text the payee reads, at most 100 characters. */
  readonly narration: string
}

/**
 * The provider that pays out, for the one module that sends (docs/decisions/0019). Both methods throw ProviderError.
 * `rejected`: a documented refusal to pay this payee, with the provider's text as the message; nothing was executed.
 * `unavailable`: this request surely executed nothing and may be repeated, which includes faults of our account.
 * `ambiguous`: everything else.
 */
export interface PayoutSender {
  /** Registers a bank account as a recipient. Moves no money. Returns the provider's code. */
  createRecipient(account: BankAccount & { readonly accountName: string }): Promise<string>
  /** Sends the money. Returns the provider's id of the accepted transfer. */
  send(payout: NewPayout): Promise<string>
}
