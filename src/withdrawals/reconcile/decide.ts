import type { ProviderTransfer, TransferState } from '../../ports/payouts.js'
import type { Services } from '../../services.js'
import type { WithdrawalStatus } from '../lifecycle.js'
import type { ReviewKind } from '../review/review.js'
import type { Withdrawal } from '../withdrawal.js'

/** After so many requests, the first included, only a person can decide. */
const maxSends = 3

/** The fields of a withdrawal that a decision depends on. */
export interface DecisionInput
  extends Pick<Withdrawal, 'status' | 'sendState' | 'sends' | 'netKobo' | 'providerReference'> {
  readonly sinceSent: number | null
}

/** What the provider's answer means for a withdrawal. */
export type Decision =
  /** The provider has it: advance to its status. */
  | { readonly kind: 'advance'; readonly to: WithdrawalStatus }
  /** Only a person can decide. `hold`: nothing may be sent until then. */
  | { readonly kind: 'review'; readonly review: ReviewKind; readonly hold: boolean }
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
const rank: Readonly<Record<WithdrawalStatus, number>> = {
  pending: 0,
  submitted: 1,
  processing: 2,
  completed: 3,
  failed: 3,
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
  if (!isOurs(withdrawal, found)) return { kind: 'review', review: 'mismatch', hold: true }
  const to = statusOf[found.state]
  const { status } = withdrawal
  if (status === 'completed' && to === 'failed') return { kind: 'review', review: 'reversed', hold: false }
  if (status === 'failed' && to !== 'failed')
    return { kind: 'review', review: 'paid_after_failed', hold: false }
  return rank[to] > rank[status] ? { kind: 'advance', to } : { kind: 'none' }
}

/** A transfer with another amount, currency or reference is not ours, in any state. */
function isOurs({ netKobo, providerReference }: DecisionInput, found: ProviderTransfer): boolean {
  return found.reference === providerReference && found.amountKobo === netKobo && found.currency === 'NGN'
}

function decideAbsent(
  { status, sendState, sends, sinceSent }: DecisionInput,
  rules: ProviderRules,
): Decision {
  if (status === 'completed' || status === 'failed') return { kind: 'none' }
  if (status !== 'pending' || sendState === 'manual_review') return { kind: 'poll-again' }
  if ((sinceSent ?? 0) < rules.settleSeconds) return { kind: 'poll-again' }
  if (rules.deduplicates && sends < maxSends) return { kind: 'resend' }
  return { kind: 'review', review: 'unknown', hold: true }
}
