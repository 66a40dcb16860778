import { type StateMachine, type StepSql, stepSql } from '../kernel/state-machine.js'
import type { TipStatus } from '../tips/lifecycle.js'

/** A fiat intent has no state of its own: its status is that of its tip, under the API's names. */
export const intentStatusOf = {
  pending: 'requires_action',
  confirmed: 'completed',
  failed: 'failed',
  cancelled: 'cancelled',
} as const satisfies Record<TipStatus, string>
export type FiatIntentStatus = (typeof intentStatusOf)[TipStatus]

/**
 * - `waiting`: an operator decides
 * - `refunding`: a refund is or may be under way, so it is not assigned
 * - `resolved`: returned or assigned
 */
const suspenseStates = ['waiting', 'refunding', 'resolved'] as const
export type SuspenseState = (typeof suspenseStates)[number]

/** Naira in suspense. */
export const suspenseMachine: StateMachine<SuspenseState> = {
  subject: 'a suspense item',
  table: 'suspense_items',
  column: 'state',
  states: suspenseStates,
  initial: ['waiting'],
  steps: [
    { from: 'waiting', to: 'refunding', by: 'an operator has it refunded', entries: [] },
    {
      from: 'waiting',
      to: 'resolved',
      by: 'an operator assigns it, or says that it was returned',
      entries: ['assignEntries', 'returnEntries'],
    },
    { from: 'refunding', to: 'waiting', by: 'the refund certainly did not happen', entries: [] },
    {
      from: 'refunding',
      to: 'resolved',
      by: 'the provider shows the refund paid, or an operator says that it was returned',
      entries: ['returnEntries'],
    },
  ],
}

/** The SQL of every statement that changes the state of an item. */
export function advanceSuspense(to: SuspenseState, from?: readonly SuspenseState[]): StepSql {
  return stepSql(suspenseMachine, to, from)
}
