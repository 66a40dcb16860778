import type { z } from 'zod'
import type { metadata } from './schemas.js'

// Amounts are kobo: whole numbers, as the wire carries them, far below 2^53. Times are ISO 8601.

/** Money that arrived for a charge. */
export interface Payment {
  readonly id: number
  readonly amountKobo: number
  readonly paidAt: string
}

/** A payment that was asked for, and what came of it. */
export interface Charge {
  /** Of the transaction; the first payment carries the same. */
  readonly id: number
  readonly reference: string
  readonly email: string
  readonly amountKobo: number
  readonly channel: 'card' | 'bank_transfer'
  readonly createdAt: string
  readonly metadata: z.output<typeof metadata>
  /** Where a browser goes after paying on the page. */
  readonly callbackUrl: string | null
  /** The account to transfer to. */
  readonly account: { readonly number: string; readonly expiresAt: string } | null
  readonly payments: readonly Payment[]
  /** Why it failed; money that arrives later wins. */
  readonly failure: string | null
}

/** Somebody transfers can go to. */
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

/** A transfer the provider has accepted, which is when the money left. */
export interface Transfer {
  readonly id: number
  readonly code: string
  readonly reference: string
  readonly amountKobo: number
  readonly recipientCode: string
  /** What the sender wrote for the payee. */
  readonly narration: string
  readonly executedAt: string
  /** Until then lookups do not find it. */
  readonly visibleAt: string
  /** What becomes of it by itself; null: nothing. */
  readonly settles: { readonly at: string; readonly outcome: Outcome } | null
  readonly status: 'pending' | Outcome
  readonly updatedAt: string
  /** The bank's words for a transfer that failed or came back. */
  readonly failure: string | null
}

/**
 * What controls compare references by: the 32 hex digits at the end, so that the provider's reference and the service's
 * own id are the same thing. Without them, the whole text.
 */
export function keyOf(reference: string): string {
  return /[0-9a-f]{32}$/i.exec(reference)?.[0].toLowerCase() ?? reference
}
