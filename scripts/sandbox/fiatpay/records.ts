import { z } from 'zod'

// Amounts are kobo: whole numbers, as the wire carries them, far below 2^53. Times are ISO 8601.

/** The caller's own data, returned unchanged. */
export const metadata = z.union([z.string(), z.record(z.string(), z.unknown())]).nullish()

export interface Payment {
  readonly id: number
  readonly amountKobo: number
  /** What the provider kept. */
  readonly feeKobo: number
  readonly paidAt: string
  /** What the payer's bank took back without a dispute. */
  readonly reversedKobo?: number
}

export interface Charge {
  /** The id of the transaction. The first payment has the same id. */
  readonly id: number
  readonly reference: string
  readonly email: string
  readonly amountKobo: number
  readonly channel: 'card' | 'bank_transfer'
  readonly createdAt: string
  readonly metadata: z.output<typeof metadata>
  /** Where the browser is redirected after paying. */
  readonly callbackUrl: string | null
  readonly account: { readonly number: string; readonly expiresAt: string } | null
  readonly payments: readonly Payment[]
  /** Why it failed. A later payment makes it a success. */
  readonly failure: string | null
}

export interface Recipient {
  readonly id: number
  /** The provider's code, `RCP_…`. */
  readonly reference: string
  readonly name: string
  readonly bankCode: string
  readonly accountNumber: string
  readonly createdAt: string
}

export const outcomes = ['success', 'failed', 'reversed'] as const
export type Outcome = (typeof outcomes)[number]

/** A transfer that the provider has accepted. The money leaves at that moment. */
export interface Transfer {
  readonly id: number
  readonly code: string
  readonly reference: string
  readonly amountKobo: number
  /** What the provider takes in addition. */
  readonly feeKobo: number
  readonly recipientCode: string
  /** The sender's text for the payee. */
  readonly narration: string
  readonly executedAt: string
  /** Lookups do not find it before this time. */
  readonly visibleAt: string
  /** The planned outcome. `null`: only a control gives it one. */
  readonly settles: { readonly at: string; readonly outcome: Outcome } | null
  readonly status: 'pending' | Outcome
  readonly updatedAt: string
  /** The bank's reason when the transfer failed or was reversed. */
  readonly failure: string | null
}

export const refundOutcomes = ['processing', 'processed', 'failed', 'needs-attention'] as const
export type RefundOutcome = (typeof refundOutcomes)[number]

/** Money of a payment that goes back to its payer. */
export interface Refund {
  readonly id: number
  readonly reference: string
  readonly transaction: number
  readonly amountKobo: number
  readonly note: string
  readonly createdAt: string
  readonly status: 'pending' | RefundOutcome
  /** When a pending one is processed. `null`: only a control gives it an outcome. */
  readonly settlesAt: string | null
}

/** A change of the balance outside the API: the business tops up, or takes money out. */
export interface TopUp {
  readonly id: number
  readonly reference: string
  readonly amountKobo: number
}

export type Resolution = 'merchant-accepted' | 'declined' | 'auto-accepted'

export interface Dispute {
  readonly id: number
  readonly reference: string
  readonly transaction: number
  /** What the payer wants back. */
  readonly amountKobo: number
  /** What the wire shows as the amount: what the payer wants, then what the merchant or the bank decided. */
  readonly shownKobo: number
  /** What left the balance when it was lost. */
  readonly takenKobo: number
  readonly status: 'awaiting-merchant-feedback' | 'awaiting-bank-feedback' | 'resolved'
  readonly resolution: Resolution | null
  readonly createdAt: string
  /** Until when the merchant can answer. Afterwards it is lost. */
  readonly dueAt: string
  readonly updatedAt: string
  readonly resolvedAt: string | null
  readonly message: string | null
  readonly fileName: string | null
  readonly evidence: number | null
}

/**
 * The part of a reference that controls compare: the 32 hex digits at the end, so that the provider's reference and the
 * service's own id match. Without such digits: the whole text.
 */
export function keyOf(reference: string): string {
  return /[0-9a-f]{32}$/i.exec(reference)?.[0].toLowerCase() ?? reference
}
