/**
 * What payers, banks and the chain of a test deployment do when they are told to. Each throws ProviderError: `rejected` with the
 * reason when this cannot happen now.
 */
export interface TestControls {
  /** `kobo`: another amount than the charge's, or a part of the payment that is disputed. */
  endPayment(reference: string, outcome: PaymentOutcome, kobo: bigint | undefined): Promise<void>
  endWithdrawal(reference: string, outcome: WithdrawalOutcome): Promise<void>
  /** Gives a wallet `amount` whole tokens, a decimal as text. Returns the transaction's signature. */
  airdrop(wallet: string, token: string, amount: string): Promise<string>
}

type PaymentOutcome = 'paid' | 'failed' | 'disputed'
type WithdrawalOutcome = 'success' | 'failed' | 'reversed'
