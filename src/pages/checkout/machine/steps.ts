import type { State, StepName } from './state.js'

/** What is an entry of the browser's history: each form, choice and result. Waiting for an answer is none. */
export type Screen = 'form' | 'wallets' | 'other-device' | 'review' | 'payment'

const screens: Readonly<Partial<Record<StepName, Screen>>> = {
  choose: 'form',
  wallets: 'wallets',
  phone: 'other-device',
  blocked: 'other-device',
  'other-window': 'other-device',
  'wrong-network': 'wallets',
  busy: 'wallets',
  review: 'review',
  'no-price': 'review',
  approving: 'review',
  'quote-expired': 'review',
  insufficient: 'review',
  'not-sent': 'review',
  sent: 'payment',
  'not-seen': 'payment',
  'not-landed': 'payment',
  'failed-on-chain': 'payment',
  mismatch: 'payment',
  done: 'payment',
  'naira-waiting': 'payment',
  'naira-late': 'payment',
  'naira-failed': 'payment',
  'naira-done': 'payment',
  'naira-refused': 'review',
}

export const screenOf = (step: StepName): Screen | undefined => screens[step]

/** Steps that ask the service again and again until it answers. */
const asking: readonly StepName[] = [
  'loading',
  'phone',
  'blocked',
  'other-window',
  'sent',
  'not-seen',
  'naira-waiting',
  'naira-late',
]

/** Whether the page waits for a service that does not answer. */
export function isStuck({ unanswered, offline, step }: State): boolean {
  return unanswered && !offline && asking.includes(step.at)
}
