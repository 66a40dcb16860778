import { isFinal, stepsBetween } from '../../kernel/state-machine.js'
import type { ProviderTransfer, TransferState } from '../../ports/payouts.js'
import type { Services } from '../../services.js'
import { providerSteps, statusMachine, type WithdrawalStatus } from '../lifecycle.js'
import { type AlarmedReview, type ReviewKind, recreditableKinds } from '../reviews.js'
import type { Withdrawal } from '../withdrawal.js'

/** After so many requests, the first included, only a person can decide. */
const maxSends = 3

/** The fields of a withdrawal that a decision depends on. */
export interface DecisionInput
  extends Pick<
    Withdrawal,
    'status' | 'sendState' | 'sends' | 'netKobo' | 'providerReference' | 'isResolved' | 'recreditedAt'
  > {
  readonly sinceSent: number | null
}

/** What the provider's answer means for a withdrawal. */
export type Decision =
  /** The provider has it: advance to its status. */
  | { readonly kind: 'advance'; readonly to: WithdrawalStatus }
  /** Only a person can decide. `hold`: nothing may be sent until then. */
  | { readonly kind: 'review'; readonly review: AlarmedReview; readonly hold: boolean }
  /** The provider agrees with us (again): what these reviews are about is over. A new fact opens new ones. */
  | { readonly kind: 'agree'; readonly outdated: readonly ReviewKind[] }
  /** Not found; send it once more under the same reference. */
  | { readonly kind: 'resend' }
  /** Not found, which proves nothing: poll again later. */
  | { readonly kind: 'poll-again' }
  /** Nothing new. */
  | { readonly kind: 'none' }

/** Facts about the provider. */
export interface ProviderRules {
  /** It documents that it refuses a reference that it has executed. */
  readonly deduplicates: boolean
  /** For so long, a transfer that the provider does not find may still appear there. */
  readonly settleSeconds: number
}

export function providerRules({ payouts, config }: Pick<Services, 'payouts' | 'config'>): ProviderRules {
  return { deduplicates: payouts.deduplicates, settleSeconds: config.payouts.settleSeconds }
}

const statusOf: Readonly<Record<TransferState, WithdrawalStatus>> = {
  accepted: 'submitted',
  started: 'processing',
  paid: 'completed',
  failed: 'failed',
  returned: 'failed',
}
/**
 * Decides by the transfer that the provider found under our reference, or by its absence. Pure. Never moves a withdrawal
 * back.
 */
export function decide(
  withdrawal: DecisionInput,
  found: ProviderTransfer | undefined,
  rules: ProviderRules,
): Decision {
  if (found === undefined) return decideAbsent(withdrawal, rules)
  // Also of another amount: after a re-credit any payment is paid twice, and what did not leave is no payment.
  if (withdrawal.recreditedAt !== null)
    return isUnpaid(found.state)
      ? { kind: 'agree', outdated: ['paid_after_recredit'] }
      : { kind: 'review', review: 'paid_after_recredit', hold: false }
  if (withdrawal.status === 'failed' && isUnpaid(found.state))
    return { kind: 'agree', outdated: ['paid_after_failed'] }
  if (!isOurs(withdrawal, found)) return { kind: 'review', review: 'mismatch', hold: true }
  if (withdrawal.status === 'completed') return decideCompleted(found.state)
  if (withdrawal.status === 'failed') return { kind: 'review', review: 'paid_after_failed', hold: false }
  const to = statusOf[found.state]
  return stepsBetween(providerSteps, withdrawal.status, to).length > 0
    ? { kind: 'advance', to }
    : { kind: 'none' }
}

/** The money of a completed withdrawal is paid. */
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
  if (isFinal(statusMachine, status)) return { kind: 'none' }
  if (status !== 'pending' || sendState === 'manual_review') return { kind: 'poll-again' }
  if ((sinceSent ?? 0) < rules.settleSeconds) return { kind: 'poll-again' }
  if (rules.deduplicates && sends < maxSends) return { kind: 'resend' }
  return { kind: 'review', review: 'unknown', hold: true }
}
