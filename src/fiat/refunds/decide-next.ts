import type { ProviderRefund } from '../../ports/refunds.js'
import { decideRefund } from '../suspense/refund.js'
import type { TipRefund } from './refund.js'

/** What the provider's list of refunds means for a refund that was sent, or may have been. */
export type NextStep =
  | { readonly kind: 'follow'; readonly shown: ProviderRefund }
  | { readonly kind: 'wait' }
  | { readonly kind: 'failed' }
  /** The provider shows none, although it had time to. Only a person has it sent again. */
  | { readonly kind: 'missing' }
  | { readonly kind: 'refuse'; readonly reason: string }

/**
 * Decides by the refunds that carry our reference as their note, or have the id that we know. Pure. Unknown is not failed: the
 * provider has `settleSeconds` to show it.
 */
export function decideNext(
  refund: Pick<TipRefund, 'id' | 'kobo' | 'providerId' | 'sinceSent' | 'sends'>,
  shown: readonly ProviderRefund[],
  settleSeconds: number,
): NextStep {
  const ours = oursOf(refund, shown)
  const item = {
    state: 'refunding',
    kobo: refund.kobo,
    sinceRefund: refund.sinceSent,
    refundsBefore: [],
  } as const
  const step = decideRefund(item, ours, settleSeconds)
  const isSettled = (refund.sinceSent ?? 0) >= settleSeconds
  switch (step.kind) {
    case 'follow':
      return { kind: 'follow', shown: step.refund }
    case 'request':
      return { kind: 'missing' }
    case 'failed':
      // The one that failed may be the first of two.
      return refund.sends > 1 && !isSettled ? { kind: 'wait' } : { kind: 'failed' }
    case 'wait':
    case 'refuse':
      return step
  }
}

/**
 * One that stands as not sent after a restore may have been requested, more than once, until the restore was accepted. `decideNext`
 * takes it so. Pure.
 */
export function asRequested(refund: TipRefund): TipRefund {
  if (refund.state !== 'not_sent') return refund
  return { ...refund, sinceSent: refund.sinceRestore, sends: 2 }
}

/** The provider's refunds that carry our reference as their note, or have the id that we know. */
export function oursOf(
  refund: Pick<TipRefund, 'id' | 'providerId'>,
  shown: readonly ProviderRefund[],
): ProviderRefund[] {
  return shown.filter(({ id, note }) => note === refund.id || id === refund.providerId)
}
