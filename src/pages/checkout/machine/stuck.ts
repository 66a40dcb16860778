import type { State, Step } from './state.js'

/** Steps that ask the service again and again until it answers. */
const asking: readonly Step['at'][] = [
  'loading',
  'phone',
  'blocked',
  'other-window',
  'sent',
  'naira-waiting',
  'naira-late',
]

/** Whether the page waits for a service that does not answer. */
export function isStuck({ unanswered, offline, step }: State): boolean {
  return unanswered && !offline && asking.includes(step.at)
}
