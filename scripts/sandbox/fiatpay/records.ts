import type { z } from 'zod'
import type { metadata } from './schemas.js'

// Amounts are kobo: whole numbers, as the wire carries them, far below 2^53. Times are ISO 8601.

/** A payment of a charge. */
export interface Payment {
  readonly id: number
  readonly amountKobo: number
  readonly paidAt: string
}

/** A requested payment and what was paid. */
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
  /** The account to transfer to. */
  readonly account: { readonly number: string; readonly expiresAt: string } | null
  readonly payments: readonly Payment[]
  /** Why it failed. A later payment makes it a success. */
  readonly failure: string | null
}

/** A bank account that transfers go to. */
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

export const refundOutcomes = ['processed', 'failed', 'needs-attention'] as const
export type RefundOutcome = (typeof refundOutcomes)[number]

/** Money of a payment that goes back to its payer. */
export interface Refund {
  readonly id: number
  /** The reference of the charge. */
  readonly reference: string
  /** The id of the payment. */
  readonly transaction: number
  readonly amountKobo: number
  readonly note: string
  readonly createdAt: string
  readonly status: 'pending' | RefundOutcome
  /** When a pending one is processed. `null`: only a control gives it an outcome. */
  readonly settlesAt: string | null
}

/**
 * The part of a reference that controls compare: the 32 hex digits at the end, so that the provider's reference and the
 * service's own id match. Without such digits: the whole text.
 */
export function keyOf(reference: string): string {
  return /[0-9a-f]{32}$/i.exec(reference)?.[0].toLowerCase() ?? reference
}
