import { defineLifecycle } from '../kernel/state-machine.js'

export type WithdrawalStatus = 'pending' | 'submitted' | 'processing' | 'completed' | 'failed'

/**
 * Every move a withdrawal may make (contract: States); the database refuses any other. States the provider was not seen
 * in are walked through. What comes back after `completed` moves nothing: a person decides.
 */
export const withdrawalLifecycle = defineLifecycle<WithdrawalStatus>('pending', {
  pending: ['submitted', 'failed'],
  submitted: ['processing', 'failed'],
  processing: ['completed', 'failed'],
  completed: [],
  failed: [],
})

/**
 * What is known of the sending. `identity_hold`: not to be sent yet; `not_sent`: surely never sent; `sending`: a request
 * may be on its way; `unknown`: one may have arrived; `resend`: to be sent once more under the same reference; `sent`:
 * accepted; `manual_review`: a person must look; `refused`: surely not executed and never to be.
 */
export const sendStates = [
  'identity_hold',
  'not_sent',
  'sending',
  'unknown',
  'resend',
  'sent',
  'manual_review',
  'refused',
] as const
export type SendState = (typeof sendStates)[number]

export const withdrawalStatuses = Object.keys(withdrawalLifecycle.moves) as [WithdrawalStatus]

/** The moves from one state to another, in order, through every state between; empty when there is no way. */
export function pathTo(from: WithdrawalStatus, to: WithdrawalStatus): WithdrawalStatus[] {
  // A transfer that is found was accepted, whatever became of it.
  const way: WithdrawalStatus[] =
    to === 'failed' ? ['pending', 'submitted', 'failed'] : ['pending', 'submitted', 'processing', 'completed']
  if (from === 'processing' && to === 'failed') return ['failed']
  const [start, end] = [way.indexOf(from), way.indexOf(to)]
  return start < 0 || end < 0 ? [] : way.slice(start + 1, end + 1)
}
