import type { Event, Next } from '../machine/events.js'
import { chosenCents, firstForm } from '../machine/form.js'
import type { State } from '../machine/state.js'
import { askNaira, startNaira } from './naira.js'
import { begin, goTo, stay } from './next.js'

type Of<Type extends Event['type']> = Extract<Event, { type: Type }>

/** The page can begin: with what was under way when it was left, else with the form. */
export function loaded(state: State, { session }: Of<'loaded'>): Next {
  const known = { ...state, session, form: firstForm(session, state.form) }
  const next = state.step.at === 'loading' ? { ...known, step: { at: 'choose' } as const } : known
  return { state: next, commands: next.form.method === 'naira' ? askNaira(next) : [] }
}

/** Nothing more can be begun with this link; a payment already on its way is still followed. */
export function sessionDead(state: State): Next {
  const moving =
    state.step.at === 'sent' || state.step.at === 'naira-waiting' || state.step.at === 'naira-late'
  if (moving) return stay(state)
  return goTo(state, { at: 'dead', asked: false }, { do: 'tell', message: { type: 'tip.expired' } })
}

export function resumed(state: State, { payment }: Of<'resumed'>): Next {
  return goTo(state, { at: 'sent', payment, since: state.now }, { do: 'watch', payment })
}

export function resumedNaira(state: State, { tip }: Of<'resumed-naira'>): Next {
  const step = { at: 'naira-waiting', tip, said: false } as const
  return goTo(state, step, { do: 'watch-naira', intentId: tip.intentId })
}

export function edited(state: State, { form }: Of<'edited'>): Next {
  const anonymous = form.anonymous === true ? { name: '', email: '' } : {}
  const next = { ...state, form: { ...state.form, ...form, ...anonymous } }
  const priced = form.method !== undefined || form.preset !== undefined || form.other !== undefined
  return { state: next, commands: priced && next.form.method === 'naira' ? askNaira(next) : [] }
}

/** Tip: to the wallets, or for naira straight to the provider. A fault in the form is shown instead. */
export function submittedForm(state: State): Next {
  const looked = { ...state, form: { ...state.form, looked: true } }
  if (state.step.at !== 'choose' || chosenCents(state) === undefined) return stay(looked)
  if (state.form.method === 'naira') return startNaira(looked)
  return goTo(looked, { at: 'wallets', declined: false })
}

/** Back to the form, which keeps what was filled in. */
export function startOver(state: State, { method }: Of<'start-over'>): Next {
  const form = { ...state.form, ...(method !== undefined && { method }) }
  const { state: next } = goTo({ ...state, form }, { at: 'choose' }, { do: 'forget' })
  return { state: next, commands: [{ do: 'forget' }, ...(form.method === 'naira' ? askNaira(next) : [])] }
}

/** A session makes one tip: another one needs a new session, which only the embedding page can get. */
export function tipAgain(state: State): Next {
  const told = { do: 'tell', message: { type: 'tip.expired' } } as const
  return goTo(state, { at: 'dead', asked: state.framed }, { do: 'forget' }, told)
}

/** Time passes: a price that was not used in time is over. */
export function tick(state: State, { now }: Of<'tick'>): Next {
  const later = { ...state, now }
  const { step } = state
  if (step.at !== 'review' && step.at !== 'approving') return stay(later)
  if (now < Date.parse(step.pay.intent.expiresAt)) return stay(later)
  return goTo(later, { at: 'quote-expired', pay: step.pay })
}

/** Approve again, ask the price again, connect again: whatever the step offers to repeat. */
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
    case 'not-taken':
    case 'refused':
      return goTo(state, { at: 'wallets', declined: false }, { do: 'forget' })
    default:
      return stay(state)
  }
}

export function connect(state: State, wallet: Extract<State['step'], { at: 'connecting' }>['wallet']): Next {
  return begin(state, { at: 'connecting', wallet }, (attempt) => ({ do: 'connect', attempt, wallet }))
}

/** Asks what the tip costs in the chosen token now. */
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
