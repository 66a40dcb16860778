import type { Command, FailureCode, Next } from '../machine/events.js'
import { chosenCents, chosenToken } from '../machine/form.js'
import type { State, Step, StepName, StepOf } from '../machine/state.js'

export const stay = (state: State): Next => ({ state, commands: [] })

/** Handles an event in these steps. In others, and as the result of an earlier attempt, it changes nothing. */
export function inSteps<At extends StepName, Given extends object>(
  steps: readonly At[],
  handle: (state: State, step: StepOf<At>, event: Given) => Next,
) {
  return (state: State, event: Given): Next => {
    const isOld = 'attempt' in event && event.attempt !== state.attempt
    if (isOld || !(steps as readonly StepName[]).includes(state.step.at)) return stay(state)
    return handle(state, state.step as StepOf<At>, event)
  }
}

/** Goes to a step. The new attempt number makes the results of earlier attempts obsolete. */
export function goTo(state: State, step: Step, ...commands: readonly Command[]): Next {
  return { state: { ...state, step, attempt: state.attempt + 1 }, commands }
}

/** Goes to a step and starts a command that belongs to the new attempt. */
export function begin(state: State, step: Step, command: (attempt: number) => Command): Next {
  return goTo(state, step, command(state.attempt + 1))
}

/**
 * Shows the wallets. On a phone without one in this browser the wallet's app opens the checkout: that needs links, and the session
 * tells when it was paid there.
 */
export function showWallets(state: State, ...commands: readonly Command[]): Next {
  const inApp = state.phone && state.wallets.length === 0
  const more = inApp ? [...requestPhoneLinks(state), { do: 'watch-session' } as const] : []
  return goTo(state, { at: 'wallets', declined: false }, ...commands, ...more)
}

export function requestPhoneLinks(state: State): Command[] {
  const cents = chosenCents(state)
  const mint = chosenToken(state)?.mint
  return cents === undefined || mint === undefined ? [] : [{ do: 'refresh-phone-links', cents, mint }]
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
