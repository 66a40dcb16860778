import type { StateMachine } from '../kernel/state-machine.js'
import type { TipStatus } from '../tips/lifecycle.js'

const sessionStates = ['open', 'consumed'] as const

/**
 * An SDK session. Time ends one too (`expires_at`), but that is read, never written. The statement that confirms tips writes this
 * step (docs/decisions/0009).
 */
export const sessionMachine: StateMachine<(typeof sessionStates)[number]> = {
  subject: 'an SDK session',
  table: 'sdk_sessions',
  column: `(case when consumed_at is null then 'open' else 'consumed' end)`,
  states: sessionStates,
  initial: ['open'],
  steps: [{ from: 'open', to: 'consumed', by: 'one of its tips is confirmed', entries: [] }],
}

export const sdkIntentStatuses = ['requires_action', 'submitted', 'confirmed', 'failed', 'expired'] as const

/** What an intent's status depends on: the tip that pays or claims it, and the time. */
export interface PaymentState {
  readonly tipStatus: TipStatus | null
  readonly outcome: 'tx_failed' | 'not_found' | 'mismatch' | null
  /** The confirmed payment brought too little. */
  readonly underpaid: boolean
  readonly expired: boolean
}

/**
 * A payment intent stores no state: its status is computed. The public status of a tip stays `pending` after its transaction
 * failed; here the supporter gets `failed`.
 */
export function sdkIntentStatus({
  tipStatus,
  outcome,
  underpaid,
  expired,
}: PaymentState): (typeof sdkIntentStatuses)[number] {
  if (tipStatus === null) return expired ? 'expired' : 'requires_action'
  if (underpaid) return 'failed'
  if (tipStatus === 'confirmed') return 'confirmed'
  return tipStatus === 'pending' && outcome === null ? 'submitted' : 'failed'
}
