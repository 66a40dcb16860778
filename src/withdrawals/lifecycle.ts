import type { StateMachine } from '../kernel/state-machine.js'
import { type OutgoingTable, sendMachineOf, statusMachineOf } from '../outgoing/lifecycle.js'

export const withdrawalTable: OutgoingTable = {
  subject: 'a withdrawal',
  table: 'withdrawals',
  name: 'payouts',
  initial: ['not_sent', 'identity_hold', 'confirmation_hold'],
  entries: { completed: ['postHold'], failed: ['voidHold'] },
  feeColumn: 'provider_fee_kobo',
  unpaid:
    'the payee is refused, the identity is refused, the creator cancels it, an operator voids it, or it is worth too little at its release',
}
export const statusMachine = statusMachineOf(withdrawalTable)
export const sendMachine = sendMachineOf(withdrawalTable)

/**
 * What a held withdrawal waits for. `dispute`: its creator's balance does not cover a dispute or what is owed, or a person looks
 * whether they are somebody who owes (docs/decisions/0067). `breaker`: a payout limit, or the pause of payouts.
 */
export const holds = ['identity', 'confirmation', 'dispute', 'breaker'] as const
export type Hold = (typeof holds)[number]

const reviewStates = ['open', 'closed', 'outdated'] as const
export type ReviewState = (typeof reviewStates)[number]

/** A review of a withdrawal. A closed one keeps the same fact from opening another; an outdated one does not. */
export const reviewMachine: StateMachine<ReviewState> = {
  subject: 'a review',
  table: 'review_items',
  column: `(case when outdated_at is not null then 'outdated' when resolved_at is not null then 'closed' else 'open' end)`,
  states: reviewStates,
  initial: ['open'],
  steps: [
    {
      from: 'open',
      to: 'closed',
      by: 'the provider shows the outcome, or an operator closes it',
      entries: [],
    },
    { from: 'open', to: 'outdated', by: 'the provider shows the money paid again', entries: [] },
    { from: 'closed', to: 'open', by: 'an operator opens it again', entries: [] },
    { from: 'closed', to: 'outdated', by: 'the provider shows the opposite', entries: [] },
  ],
}
