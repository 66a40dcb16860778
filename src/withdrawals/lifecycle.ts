import { defineLifecycle } from '../kernel/state-machine.js'

export type WithdrawalStatus = 'pending' | 'submitted' | 'processing' | 'completed' | 'failed'

/**
 * Every move a withdrawal may make. A database trigger refuses any other. A withdrawal passes through every status between,
 * also when the provider was not polled in time to show it. Money that comes back after `completed` changes no status: it
 * opens a review.
 */
export const withdrawalLifecycle = defineLifecycle<WithdrawalStatus>('pending', {
  pending: ['submitted', 'failed'],
  submitted: ['processing', 'failed'],
  processing: ['completed', 'failed'],
  completed: [],
  failed: [],
})

/**
 * What we know about the sending (docs/decisions/0019).
 * - `identity_hold`: waits for the creator's identity; not sent yet
 * - `not_sent`: certainly never sent
 * - `sending`: a request may be on its way
 * - `unknown`: a request may have reached the provider
 * - `resend`: to be sent once more under the same reference
 * - `sent`: the provider accepted it
 * - `manual_review`: only a person can decide
 * - `refused`: certainly not executed, and never sent again
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

/** The statuses after `from` up to `to`, in order. Empty when no path leads there. */
export function pathTo(from: WithdrawalStatus, to: WithdrawalStatus): WithdrawalStatus[] {
  // A transfer that the provider has was accepted, so a failed one passes through `submitted` too.
  const path: WithdrawalStatus[] =
    to === 'failed' ? ['pending', 'submitted', 'failed'] : ['pending', 'submitted', 'processing', 'completed']
  if (from === 'processing' && to === 'failed') return ['failed']
  const [start, end] = [path.indexOf(from), path.indexOf(to)]
  return start < 0 || end < 0 ? [] : path.slice(start + 1, end + 1)
}
