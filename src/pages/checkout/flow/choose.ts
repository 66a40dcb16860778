import type { Event, Next } from '../machine/events.js'
import { chosenCents, firstForm } from '../machine/form.js'
import type { State } from '../machine/state.js'
import { requestNairaQuote, startNaira } from './naira.js'
import { begin, goTo, stay } from './next.js'

type Of<Type extends Event['type']> = Extract<Event, { type: Type }>

/** The session is known: shows the form, unless a payment that was under way was resumed before. */
export function loaded(state: State, { session }: Of<'loaded'>): Next {
  const ready = { ...state, session, form: firstForm(session, state.form) }
  const next = state.step.at === 'loading' ? { ...ready, step: { at: 'choose' } as const } : ready
  return { state: next, commands: next.form.method === 'naira' ? requestNairaQuote(next) : [] }
}

/** The session cannot start another payment. One that is already under way is still followed. */
export function sessionDead(state: State): Next {
  const moving =
    state.step.at === 'sent' || state.step.at === 'naira-waiting' || state.step.at === 'naira-late'
  if (moving) return stay(state)
  return goTo(
    state,
    { at: 'session-over', renewing: false },
    { do: 'notify-parent', message: { type: 'tip.expired' } },
  )
}

export function resumed(state: State, { payment }: Of<'resumed'>): Next {
  return goTo(state, { at: 'sent', payment, since: state.now }, { do: 'watch-payment', payment })
}

export function resumedNaira(state: State, { tip }: Of<'resumed-naira'>): Next {
  const step = { at: 'naira-waiting', tip, markedSent: false } as const
  return goTo(state, step, { do: 'watch-naira', intentId: tip.intentId })
}

export function edited(state: State, { form }: Of<'edited'>): Next {
  const anonymous = form.anonymous === true ? { name: '', email: '' } : {}
  const next = { ...state, form: { ...state.form, ...form, ...anonymous } }
  const priced = form.method !== undefined || form.preset !== undefined || form.other !== undefined
  return { state: next, commands: priced && next.form.method === 'naira' ? requestNairaQuote(next) : [] }
}

/** Continues to the wallets, or starts a naira payment. An invalid form shows its faults. */
export function submittedForm(state: State): Next {
  const submitted: State = { ...state, form: { ...state.form, showFaults: true } }
  if (state.step.at !== 'choose' || chosenCents(state) === undefined) return stay(submitted)
  if (state.form.method === 'naira') return startNaira(submitted)
  return goTo(submitted, { at: 'wallets', declined: false })
}

/** Returns to the form, which keeps its values. */
export function startOver(state: State, { method }: Of<'start-over'>): Next {
  const form = { ...state.form, ...(method !== undefined && { method }) }
  const { state: next } = goTo({ ...state, form }, { at: 'choose' }, { do: 'clear-saved' })
  return {
    state: next,
    commands: [{ do: 'clear-saved' }, ...(form.method === 'naira' ? requestNairaQuote(next) : [])],
  }
}

/** A session ends with its tip. Only the embedding page can get a new one. */
export function tipAgain(state: State): Next {
  const notify = { do: 'notify-parent', message: { type: 'tip.expired' } } as const
  return goTo(state, { at: 'session-over', renewing: state.framed }, { do: 'clear-saved' }, notify)
}

/** Updates the clock. A price that was not approved in time expires. */
export function tick(state: State, { now }: Of<'tick'>): Next {
  const later = { ...state, now }
  const { step } = state
  if (step.at !== 'review' && step.at !== 'approving') return stay(later)
  if (now < Date.parse(step.pay.intent.expiresAt)) return stay(later)
  return goTo(later, { at: 'quote-expired', pay: step.pay })
}

/** Repeats what the step was about: approving, pricing, connecting or choosing. */
export function retried(state: State): Next {
  const { step } = state
  switch (step.at) {
    case 'wrong-network':
      return connect(state, step.wallet)
    case 'busy':
      return step.pay === undefined
        ? connect(state, step.wallet)
        : goTo(state, { at: 'review', pay: step.pay, declined: false, accepted: false })
    case 'quote-expired':
    case 'not-sent':
    case 'insufficient':
      return price(state, step.pay.wallet, step.pay.address)
    case 'no-price':
    case 'provider-down':
    case 'choose':
      return startOver(state, { type: 'start-over' })
    case 'not-landed':
    case 'failed-on-chain':
      return goTo(state, { at: 'wallets', declined: false }, { do: 'clear-saved' })
    default:
      return stay(state)
  }
}

export function connect(state: State, wallet: Extract<State['step'], { at: 'connecting' }>['wallet']): Next {
  return begin(state, { at: 'connecting', wallet }, (attempt) => ({ do: 'connect', attempt, wallet }))
}

/** Requests the price of the tip in the chosen token. */
export function price(
  state: State,
  wallet: Extract<State['step'], { at: 'pricing' }>['wallet'],
  address: string,
): Next {
  const cents = chosenCents(state)
  if (cents === undefined) return goTo(state, { at: 'choose' })
  return begin(state, { at: 'pricing', wallet, address }, (attempt) => ({
    do: 'price',
    attempt,
    address,
    cents,
  }))
}
