import type { ProviderTransfer, TransferState } from '../../ports/payouts.js'
import type { Services } from '../../services.js'
import type { WithdrawalStatus } from '../lifecycle.js'
import type { ReviewKind } from '../review/review.js'
import type { Withdrawal } from '../withdrawal.js'

/** Sendings of one payout, the first included, before a person must look. */
const sendsMost = 3

/** What of a withdrawal decides. */
export interface DecisionInput
  extends Pick<Withdrawal, 'status' | 'sendState' | 'sends' | 'netKobo' | 'providerReference'> {
  readonly sinceSent: number | null
}

/** What an answer of the provider means for a withdrawal. */
export type Decision =
  /** It is there: walk to it. */
  | { readonly kind: 'walk'; readonly to: WithdrawalStatus }
  /** A person must look; `hold`: and nothing may be sent meanwhile. */
  | { readonly kind: 'review'; readonly review: ReviewKind; readonly hold: boolean }
  /** Not found, and it may be sent once more under the same reference. */
  | { readonly kind: 'resend' }
  /** Not found, which proves nothing: ask again. */
  | { readonly kind: 'ask-again' }
  /** As we know it already. */
  | { readonly kind: 'nothing' }

export interface ProviderRules {
  readonly deduplicates: boolean
  /** How long a transfer the provider does not find may still turn up there. */
  readonly settleSeconds: number
}

/** What is known of the provider, and how long it is given. */
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

/** Judges what the provider found under our reference, or that it found nothing. Never moves a withdrawal back. */
export function decide(
  withdrawal: DecisionInput,
  found: ProviderTransfer | undefined,
  rules: ProviderRules,
): Decision {
  if (found === undefined) return judgeAbsent(withdrawal, rules)
  if (!isOurs(withdrawal, found)) return { kind: 'review', review: 'mismatch', hold: true }
  const to = statusOf[found.state]
  const { status } = withdrawal
  if (status === 'completed' && to === 'failed') return { kind: 'review', review: 'reversed', hold: false }
  if (status === 'failed' && to !== 'failed')
    return { kind: 'review', review: 'paid_after_failed', hold: false }
  return rank[to] > rank[status] ? { kind: 'walk', to } : { kind: 'nothing' }
}

/** Another amount or currency under our reference is not our transfer, whatever it says of itself. */
function isOurs({ netKobo, providerReference }: DecisionInput, found: ProviderTransfer): boolean {
  return found.reference === providerReference && found.amountKobo === netKobo && found.currency === 'NGN'
}

function judgeAbsent({ status, sendState, sends, sinceSent }: DecisionInput, rules: ProviderRules): Decision {
  if (status === 'completed' || status === 'failed') return { kind: 'nothing' }
  if (status !== 'pending' || sendState === 'manual_review') return { kind: 'ask-again' }
  if ((sinceSent ?? 0) < rules.settleSeconds) return { kind: 'ask-again' }
  if (rules.deduplicates && sends < sendsMost) return { kind: 'resend' }
  return { kind: 'review', review: 'unknown', hold: true }
}
