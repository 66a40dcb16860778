import type { Command, FailureCode, Next } from '../machine/events.js'
import type { State, Step } from '../machine/state.js'

export const stay = (state: State): Next => ({ state, commands: [] })

/** Goes to a step. What was begun before is over: its answers will be too late. */
export function goTo(state: State, step: Step, ...commands: readonly Command[]): Next {
  return { state: { ...state, step, attempt: state.attempt + 1 }, commands }
}

/** Begins something that answers later, under the number of a new attempt. */
export function begin(state: State, step: Step, command: (attempt: number) => Command): Next {
  return goTo(state, step, command(state.attempt + 1))
}

/** Tells the embedding page of a try that came to nothing. */
export function failed(
  code: FailureCode,
  message: string,
  intentId: string | null = null,
  retryable = true,
): Command {
  return { do: 'tell', message: { type: 'tip.failed', intentId, code, retryable, message } }
}
