import { type StateMachine, type StepSql, stepSql } from '../kernel/state-machine.js'
import { type OutgoingTable, sendMachineOf, statusMachineOf } from '../outgoing/lifecycle.js'
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
 * - `waiting`: an operator decides, or the creator of the tip that it is too little for
 * - `refunding`: a refund is or may be under way, so it is not assigned
 * - `resolved`: returned or assigned, or a dispute took it
 */
const suspenseStates = ['waiting', 'refunding', 'resolved'] as const
export type SuspenseState = (typeof suspenseStates)[number]

export const suspenseMachine: StateMachine<SuspenseState> = {
  subject: 'a suspense item',
  table: 'suspense_items',
  column: 'state',
  states: suspenseStates,
  initial: ['waiting'],
  steps: [
    { from: 'waiting', to: 'refunding', by: 'an operator or the creator has it refunded', entries: [] },
    {
      from: 'waiting',
      to: 'resolved',
      by: 'an operator or the creator assigns it, an operator says that it was returned, or a dispute takes it',
      entries: ['assignEntries', 'returnEntries', 'lossEntries'],
    },
    { from: 'refunding', to: 'waiting', by: 'the refund certainly did not happen', entries: [] },
    {
      from: 'refunding',
      to: 'resolved',
      by: 'the provider shows the refund paid, or an operator says that it was returned',
      entries: ['returnEntries'],
    },
    {
      from: 'resolved',
      to: 'waiting',
      by: 'the provider gives back what a dispute took',
      entries: ['restoreEntries'],
    },
  ],
}

/** The SQL of every statement that changes the state of an item. */
export function advanceSuspense(to: SuspenseState, from?: readonly SuspenseState[]): StepSql {
  return stepSql(suspenseMachine, to, from)
}

/**
 * - `open`: the provider waits for our answer
 * - `answered`: declined, and the bank decides
 * - `won`: the money stays
 * - `lost`: the provider has taken the money
 */
const disputeStates = ['open', 'answered', 'won', 'lost'] as const
export type DisputeState = (typeof disputeStates)[number]

const bankDecides = 'the bank decides so'

/** A dispute follows what the provider shows. It may be found in any state. */
export const disputeMachine: StateMachine<DisputeState> = {
  subject: 'a dispute',
  table: 'disputes',
  column: 'state',
  states: disputeStates,
  initial: disputeStates,
  steps: [
    { from: 'open', to: 'answered', by: 'it is declined', entries: [] },
    { from: 'open', to: 'won', by: 'the payer or the bank withdraws it', entries: ['freeReceivable'] },
    { from: 'open', to: 'lost', by: 'it is accepted, or not answered in time', entries: ['bookReturn'] },
    { from: 'answered', to: 'open', by: 'the bank wants another answer', entries: [] },
    { from: 'answered', to: 'won', by: bankDecides, entries: ['freeReceivable'] },
    { from: 'answered', to: 'lost', by: bankDecides, entries: ['bookReturn'] },
    { from: 'won', to: 'lost', by: 'the provider takes the money after all', entries: ['bookReturn'] },
    { from: 'lost', to: 'won', by: 'the provider gives the money back', entries: ['restoreReturn'] },
  ],
}

/** The disputes that have not ended: their money is held. */
export const undecidedStates = ['open', 'answered'] as const satisfies readonly DisputeState[]

/** The SQL of every statement that changes the state of a dispute. */
export function advanceDispute(to: DisputeState, from?: readonly DisputeState[]): StepSql {
  return stepSql(disputeMachine, to, from)
}

/** The refund of a payment, or of a part of it. */
export const refundTable: OutgoingTable = {
  subject: 'a refund',
  table: 'refunds',
  name: 'refunds',
  initial: ['not_sent'],
  entries: { completed: ['postRefund', 'returnEntries'], failed: ['voidRefund'] },
  unpaid: 'the provider refuses it, or an operator gives the money back',
}
export const refundStatusMachine = statusMachineOf(refundTable)
export const refundSendMachine = sendMachineOf(refundTable)
