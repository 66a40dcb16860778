import { openStates, type StateMachine, type StepSql, stepSql } from '../../kernel/state-machine.js'

/**
 * - `not_sent`: the money is held, and a worker sends it
 * - `sending`: one request is or may be on its way
 * - `sent`: the provider has it
 * - `attention`: the provider waits for somebody at its own pages
 * - `paid`: the payer has the money
 * - `failed`: the payer certainly has not got it
 */
const refundStates = ['not_sent', 'sending', 'sent', 'attention', 'paid', 'failed'] as const
export type TipRefundState = (typeof refundStates)[number]

const shownPaid = 'the provider shows it paid, or an operator says that the money was returned'
const shownFailed = 'the provider shows it failed'

/** The refund of a payment, or of a part of it, that a creator asked for. */
export const refundMachine: StateMachine<TipRefundState> = {
  subject: 'a refund',
  table: 'refunds',
  column: 'state',
  states: refundStates,
  initial: ['not_sent'],
  steps: [
    { from: 'not_sent', to: 'sending', by: 'the only request begins', entries: [] },
    { from: 'not_sent', to: 'failed', by: 'an operator gives the money back', entries: ['voidRefund'] },
    {
      from: 'sending',
      to: 'not_sent',
      by: 'the request certainly did not reach the provider, or an operator has it sent again',
      entries: [],
    },
    { from: 'sending', to: 'sent', by: 'the provider shows it', entries: [] },
    { from: 'sending', to: 'attention', by: 'the provider shows that it waits for somebody', entries: [] },
    { from: 'sending', to: 'paid', by: shownPaid, entries: ['postRefund'] },
    {
      from: 'sending',
      to: 'failed',
      by: `the provider refuses it, ${shownFailed}, or an operator gives the money back`,
      entries: ['voidRefund'],
    },
    { from: 'sent', to: 'attention', by: 'the provider shows that it waits for somebody', entries: [] },
    { from: 'sent', to: 'paid', by: shownPaid, entries: ['postRefund'] },
    { from: 'sent', to: 'failed', by: shownFailed, entries: ['voidRefund'] },
    { from: 'attention', to: 'sent', by: 'the provider works on it again', entries: [] },
    { from: 'attention', to: 'paid', by: shownPaid, entries: ['postRefund'] },
    { from: 'attention', to: 'failed', by: shownFailed, entries: ['voidRefund'] },
  ],
}

/** The states of refunds that have not ended. */
export const openRefundStates = openStates(refundMachine)

/** The provider is asked about these. Nothing is sent. */
export const followedStates = ['sending', 'sent', 'attention'] as const satisfies readonly TipRefundState[]

/** The SQL of every statement that changes the state of a refund. */
export function advanceRefund(to: TipRefundState, from?: readonly TipRefundState[]): StepSql {
  return stepSql(refundMachine, to, from)
}
