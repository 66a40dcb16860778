import { stepsBetween } from '../kernel/state-machine.js'
import type { ProviderTransfer, TransferState } from '../ports/payouts.js'
import { hasEnded, type OutgoingStatus, providerSteps, type SendState } from './lifecycle.js'

/** After so many requests, the first included, only a person can decide. */
const maxSends = 3

/**
 * Why only a person can decide (docs/decisions/0019).
 * - `unknown`: it is not known whether it was executed; or the provider accepted it, and shows it no more
 * - `mismatch`: the provider shows another amount, currency or reference
 * - `reversed`: the money came back after completion
 * - `failed_after_completed`: the provider says after completion that it failed
 * - `paid_after_failed`: the provider paid after the money was given back
 * - `paid_after_recredit`: the provider paid again after an operator had credited the creator again
 */
export type ReviewReason =
  | 'unknown'
  | 'mismatch'
  | 'reversed'
  | 'failed_after_completed'
  | 'paid_after_failed'
  | 'paid_after_recredit'

/** The creator may be credited again while one of these is open. They close when the provider shows the money paid again. */
export const recreditableKinds: readonly ReviewReason[] = ['reversed', 'failed_after_completed']

/** Closed automatically when the provider shows the outcome. They may open again. */
export const selfClosingKinds: readonly ReviewReason[] = ['unknown', 'mismatch']

export interface DecisionInput {
  readonly status: OutgoingStatus
  readonly sendState: SendState
  readonly sends: number
  readonly netKobo: bigint
  readonly providerReference: string
  /** An operator has resolved how much was paid. */
  readonly isResolved: boolean
  /** When the creator was credited again after a completed payout came back. */
  readonly recreditedAt: Date | null
  /** Seconds since the last request that may have reached the provider began. Null: there was none. */
  readonly sinceSent: number | null
}

export type Decision =
  /** The provider has it: advance to its status. */
  | { readonly kind: 'advance'; readonly to: OutgoingStatus }
  /** Only a person can decide. `hold`: nothing may be sent until then. */
  | { readonly kind: 'review'; readonly review: ReviewReason; readonly hold: boolean }
  /** The provider agrees with us (again): what these reviews are about is over. A new fact opens new ones. */
  | { readonly kind: 'agree'; readonly outdated: readonly ReviewReason[] }
  /** Not found; send it once more under the same reference. */
  | { readonly kind: 'resend' }
  /** Not found, which proves nothing: poll again later. */
  | { readonly kind: 'poll-again' }
  | { readonly kind: 'none' }

export interface ProviderRules {
  /** It documents that it refuses a reference that it has executed. */
  readonly deduplicates: boolean
  /** For so long, a transfer that the provider does not find may still appear there. */
  readonly settleSeconds: number
}

const statusOf: Readonly<Record<TransferState, OutgoingStatus>> = {
  accepted: 'submitted',
  started: 'processing',
  paid: 'completed',
  failed: 'failed',
  returned: 'failed',
}
/**
 * Decides by the transfer that the provider found under our reference, or by its absence. Pure. Never moves a row back.
 */
export function decide(
  row: DecisionInput,
  found: ProviderTransfer | undefined,
  rules: ProviderRules,
): Decision {
  if (found === undefined) return decideAbsent(row, rules)
  // Also of another amount: after a re-credit any payment is paid twice, and what did not leave is no payment.
  if (row.recreditedAt !== null)
    return isUnpaid(found.state)
      ? { kind: 'agree', outdated: ['paid_after_recredit'] }
      : { kind: 'review', review: 'paid_after_recredit', hold: false }
  if (row.status === 'failed' && isUnpaid(found.state))
    return { kind: 'agree', outdated: ['paid_after_failed'] }
  if (!isOurs(row, found)) return { kind: 'review', review: 'mismatch', hold: true }
  if (row.status === 'completed') return decideCompleted(found.state)
  if (row.status === 'failed') return { kind: 'review', review: 'paid_after_failed', hold: false }
  const to = statusOf[found.state]
  return stepsBetween(providerSteps, row.status, to).length > 0 ? { kind: 'advance', to } : { kind: 'none' }
}

/** The money of a completed row is paid. */
function decideCompleted(state: TransferState): Decision {
  if (state === 'returned') return { kind: 'review', review: 'reversed', hold: false }
  if (state === 'failed') return { kind: 'review', review: 'failed_after_completed', hold: false }
  return state === 'paid' ? { kind: 'agree', outdated: recreditableKinds } : { kind: 'none' }
}

/** The provider says that the creator's bank does not have the money. */
export function isUnpaid(state: TransferState): boolean {
  return state === 'failed' || state === 'returned'
}

/**
 * A transfer with another amount, currency or reference is not ours, in any state; unless an operator has resolved exactly
 * that.
 */
function isOurs({ netKobo, providerReference, isResolved }: DecisionInput, found: ProviderTransfer): boolean {
  if (isResolved) return true
  return found.reference === providerReference && found.amountKobo === netKobo && found.currency === 'NGN'
}

function decideAbsent(
  { status, sendState, sends, sinceSent }: DecisionInput,
  rules: ProviderRules,
): Decision {
  if (hasEnded(status)) return { kind: 'none' }
  // It need not show at once what it has accepted. Of a refund that was begun at its pages there was no request.
  if (status !== 'pending')
    return (sinceSent ?? Number.POSITIVE_INFINITY) < rules.settleSeconds
      ? { kind: 'poll-again' }
      : { kind: 'review', review: 'unknown', hold: false }
  if (sendState === 'manual_review') return { kind: 'poll-again' }
  if ((sinceSent ?? 0) < rules.settleSeconds) return { kind: 'poll-again' }
  if (rules.deduplicates && sends < maxSends) return { kind: 'resend' }
  return { kind: 'review', review: 'unknown', hold: true }
}
