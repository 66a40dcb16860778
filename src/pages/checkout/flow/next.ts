import type { Command, FailureCode, Next } from '../machine/events.js'
import type { State, Step } from '../machine/state.js'

export const stay = (state: State): Next => ({ state, commands: [] })

/** Goes to a step. The new attempt number makes the results of earlier attempts obsolete. */
export function goTo(state: State, step: Step, ...commands: readonly Command[]): Next {
  return { state: { ...state, step, attempt: state.attempt + 1 }, commands }
}

/** Goes to a step and starts a command that belongs to the new attempt. */
export function begin(state: State, step: Step, command: (attempt: number) => Command): Next {
  return goTo(state, step, command(state.attempt + 1))
}

export function failed(
  code: FailureCode,
  message: string,
  intentId: string | null = null,
  retryable = true,
  receivedAmount?: number,
): Command {
  const received = receivedAmount === undefined ? {} : { receivedAmount }
  return {
    do: 'notify-parent',
    message: { type: 'tip.failed', intentId, code, retryable, message, ...received },
  }
}
