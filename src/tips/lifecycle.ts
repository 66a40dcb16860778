import { type StateMachine, type StepSql, sourcesOf, stepSql } from '../kernel/state-machine.js'

export const tipStatuses = ['pending', 'confirmed', 'failed', 'cancelled'] as const
export type TipStatus = (typeof tipStatuses)[number]

/**
 * Every status change of a tip. A chain tip whose signature is never found, or whose transaction failed, stays `pending`
 * forever (API: POST /chain/tips/create); only a vanished transaction fails it. A late payment confirms a naira tip from any
 * status.
 */
export const tipMachine: StateMachine<TipStatus> = {
  subject: 'a tip',
  table: 'tips',
  column: 'status',
  states: tipStatuses,
  initial: ['pending'],
  steps: [
    {
      from: 'pending',
      to: 'confirmed',
      by: 'its transaction landed and pays it, or the provider shows its naira paid',
      entries: ['creditTips', 'creditEntries'],
    },
    { from: 'pending', to: 'failed', by: 'the provider says that its charge failed', entries: [] },
    { from: 'pending', to: 'cancelled', by: 'its naira did not arrive in time', entries: [] },
    {
      from: 'confirmed',
      to: 'failed',
      by: 'its transaction vanished before it was final',
      entries: ['voidTipCredits'],
    },
    { from: 'failed', to: 'confirmed', by: 'its naira arrived late', entries: ['creditEntries'] },
    { from: 'cancelled', to: 'confirmed', by: 'its naira arrived late', entries: ['creditEntries'] },
  ],
}

/** The statuses of a naira tip that ended without its payment. A late payment still confirms it. */
export const unpaidEnds = sourcesOf(tipMachine, 'confirmed').filter((status) => status !== 'pending')

/** The SQL of every statement that changes the status of tips. They are set-based, so each builds its own statement. */
export function advanceTips(to: TipStatus, from?: readonly TipStatus[]): StepSql {
  return stepSql(tipMachine, to, from)
}
