import type { Command, Next, Of } from '../machine/events.js'
import { chosenCents, fittingForm, nairaQuote } from '../machine/form.js'
import type { NairaRefusal, NairaTip, State } from '../machine/state.js'
import { begin, failed, goTo, inSteps, stay } from './next.js'

const methodOf = ({ checkoutUrl }: NairaTip) => (checkoutUrl === null ? 'bank_transfer' : 'card')

/** Any amount that may be asked for gives the rate. A large one gives it exactly. */
const rateCents = 10_000

/** Requests what the form needs of naira: the rate, and the price of an amount in dollars. */
export function requestNaira(state: State): Command[] {
  const { form, session, rate } = state
  if (session === undefined || (form.method === 'crypto' && form.currency === 'USD')) return []
  const cents = chosenCents(state)
  const asked = Math.min(rateCents, session.limits.maxTipUsd * 100)
  return [
    ...(rate === undefined ? [{ do: 'read-naira-rate', cents: asked } as const] : []),
    ...(form.currency === 'USD' && cents !== undefined ? [{ do: 'quote-naira', cents } as const] : []),
  ]
}

export function quoted(state: State, { quote }: Of<'naira-quoted'>): Next {
  return quote.cents === chosenCents(state) ? stay({ ...state, naira: quote }) : stay(state)
}

/** Limits in naira depend on the rate, and with them the amounts on offer. The service answers again. */
export function rateRead(state: State, { rate }: Of<'naira-rate'>): Next {
  const wasUnavailable = state.naira === 'unavailable'
  const next: State = { ...state, rate, naira: wasUnavailable ? 'unknown' : state.naira }
  const form = fittingForm(next)
  const fitting = { ...next, form }
  return { state: fitting, commands: wasUnavailable || form !== state.form ? requestNaira(fitting) : [] }
}

export function quoteFailed(state: State): Next {
  return stay({ ...state, naira: 'unavailable', nairaFailedAt: state.now })
}

/** Starts a payment with the quote that the button shows. The form gets one when there is none. */
export function startNaira(state: State): Next {
  const quote = nairaQuote(state)
  if (quote === undefined) return goTo(state, { at: 'choose' })
  const { form } = state
  const next = begin(state, { at: 'naira-starting' }, (attempt) => ({
    do: 'start-naira',
    attempt,
    quote,
    form,
  }))
  // Within the tap: later the browser would block it.
  const opensPage = state.session?.fiat.collection === 'checkout' && form.way !== 'bank_transfer'
  if (!opensPage) return next
  return { ...next, commands: [{ do: 'open-tab' }, ...next.commands] }
}

export const nairaStarted = inSteps(['naira-starting'], (state, _, { tip }: Of<'naira-started'>) => {
  const { intentId, amountUsd } = tip
  return goTo(
    { ...state, left: undefined },
    { at: 'naira-waiting', tip, markedSent: false },
    { do: 'save', naira: tip },
    { do: 'notify-parent', message: { type: 'tip.started', intentId, method: methodOf(tip), amountUsd } },
    { do: 'watch-naira', intentId },
  )
})

const refusals: Readonly<Record<string, NairaRefusal>> = {
  invalid_amount: 'amount',
  too_many_requests: 'too-many',
  network: 'unanswered',
  bad_answer: 'unanswered',
  service_unavailable: 'provider',
}

export const nairaRefused = inSteps(['naira-starting'], (state, _, { code }: Of<'naira-refused'>) => {
  const command = failed('unavailable', code)
  if (code === 'rate_unavailable')
    return goTo({ ...state, naira: 'unavailable', nairaFailedAt: state.now }, { at: 'choose' }, command)
  return goTo(state, { at: 'naira-refused', reason: refusals[code] ?? 'refused' }, command)
})

export const markedSent = inSteps(['naira-waiting', 'naira-late'], (state, step) =>
  stay({ ...state, step: { ...step, markedSent: true } }),
)

/** Only the service's status completes a payment. `completed` may come after `cancelled`, because late money counts. */
export const nairaStatus = inSteps(
  ['naira-waiting', 'naira-late'],
  (state, step, event: Of<'naira-status'>) => {
    const { intentId, status, receivedNgn } = event
    const { tip } = step
    if (tip.intentId !== intentId || status === 'requires_action') return stay(state)
    if (status === 'completed') {
      const done = { at: 'naira-done', tip, completedAt: state.now } as const
      return goTo(state, done, { do: 'save', done }, completion(tip, state.now))
    }
    const notify = failed('fiat_failed', status, intentId)
    if (status === 'failed' || receivedNgn !== undefined)
      return goTo(
        state,
        { at: 'naira-failed', tip, receivedNgn },
        // A reload shows again where the money is.
        ...(receivedNgn === undefined ? [{ do: 'clear-saved' } as const] : []),
        notify,
      )
    if (step.at === 'naira-late') return stay(state)
    return goTo(state, { at: 'naira-late', tip, markedSent: step.markedSent }, notify, {
      do: 'watch-naira',
      intentId,
    })
  },
)

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
