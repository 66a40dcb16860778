import type { Command, Event, Next } from '../machine/events.js'
import { chosenCents } from '../machine/form.js'
import type { NairaTip, State } from '../machine/state.js'
import { begin, failed, goTo, stay } from './next.js'

type Of<Type extends Event['type']> = Extract<Event, { type: Type }>

const methodOf = ({ checkoutUrl }: NairaTip) => (checkoutUrl === null ? 'bank_transfer' : 'card')

/** Requests the naira price of the amount, if the amount is valid. */
export function requestNairaQuote(state: State): Command[] {
  const cents = chosenCents(state)
  return cents === undefined ? [] : [{ do: 'quote-naira', cents }]
}

export function quoted(state: State, { quote }: Of<'naira-quoted'>): Next {
  return quote.cents === chosenCents(state) ? stay({ ...state, naira: quote }) : stay(state)
}

export function quoteFailed(state: State): Next {
  return stay({ ...state, naira: 'unavailable' })
}

/** Starts a payment with the quote that the button shows. */
export function startNaira(state: State): Next {
  const { naira: quote, form } = state
  const cents = chosenCents(state)
  if (cents === undefined || typeof quote !== 'object' || quote.cents !== cents) return stay(state)
  return begin(state, { at: 'naira-starting' }, (attempt) => ({
    do: 'start-naira',
    attempt,
    cents,
    quote,
    form,
  }))
}

export function nairaStarted(state: State, { attempt, tip }: Of<'naira-started'>): Next {
  if (attempt !== state.attempt || state.step.at !== 'naira-starting') return stay(state)
  const { intentId, amountUsd } = tip
  return goTo(
    state,
    { at: 'naira-waiting', tip, markedSent: false },
    { do: 'save', naira: tip },
    { do: 'notify-parent', message: { type: 'tip.started', intentId, method: methodOf(tip), amountUsd } },
    { do: 'watch-naira', intentId },
  )
}

export function nairaRefused(state: State, { attempt, code }: Of<'naira-refused'>): Next {
  if (attempt !== state.attempt || state.step.at !== 'naira-starting') return stay(state)
  const command = failed('unavailable', code)
  if (code === 'rate_unavailable') return goTo({ ...state, naira: 'unavailable' }, { at: 'choose' }, command)
  return goTo(state, { at: 'provider-down' }, command)
}

export function markedSent(state: State): Next {
  const { step } = state
  if (step.at !== 'naira-waiting' && step.at !== 'naira-late') return stay(state)
  return stay({ ...state, step: { ...step, markedSent: true } })
}

/** Only the service's status completes a payment. `completed` may come after `cancelled`, because late money counts. */
export function nairaStatus(state: State, { intentId, status }: Of<'naira-status'>): Next {
  const { step } = state
  if (step.at !== 'naira-waiting' && step.at !== 'naira-late') return stay(state)
  const { tip } = step
  if (tip.intentId !== intentId || status === 'requires_action') return stay(state)
  if (status === 'completed')
    return goTo(
      state,
      { at: 'naira-done', tip, completedAt: state.now },
      { do: 'clear-saved' },
      completion(tip, state.now),
    )
  const notify = failed('fiat_failed', status, intentId)
  if (status === 'failed') return goTo(state, { at: 'naira-failed', tip }, { do: 'clear-saved' }, notify)
  if (step.at === 'naira-late') return stay(state)
  return goTo(state, { at: 'naira-late', tip, markedSent: step.markedSent }, notify, {
    do: 'watch-naira',
    intentId,
  })
}

function completion(tip: NairaTip, now: number): Command {
  return {
    do: 'notify-parent',
    message: {
      type: 'tip.completed',
      intentId: tip.intentId,
      signature: null,
      method: methodOf(tip),
      amount: tip.amountNgn,
      tokenSymbol: 'NGN',
      amountUsd: tip.amountUsd,
      receivedAmount: tip.receivedUsd,
      timestamp: new Date(now).toISOString(),
    },
  }
}
