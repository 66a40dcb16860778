import { namedCurrency } from '../../lib/amount-text.js'
import type { Command, Next, Of } from '../machine/events.js'
import { chosenCents, firstForm, fittingForm, inCurrency, isUsableEmail } from '../machine/form.js'
import type { Form, State, StepName } from '../machine/state.js'
import { requestNaira, startNaira } from './naira.js'
import { begin, goTo, showWallets, stay } from './next.js'

/** The pause between requests for a naira price that was not answered. */
const nairaRetryMs = 10_000
/** An embedding page that handles `tip.expired` shows another session within this time. */
const parentMs = 3000

/** The session is known: shows the form, unless a payment that was under way was resumed before. */
export function loaded(state: State, { session }: Of<'loaded'>): Next {
  const fresh = state.form.mint === ''
  const noWallet = state.phone && state.wallets.length === 0
  const nairaFirst = session.fiat.enabled && (state.currency === 'NGN' || noWallet)
  const { currency = nairaFirst ? 'NGN' : 'USD' } = state
  const first = { method: nairaFirst ? 'naira' : 'crypto', currency } as const
  const form = firstForm(session, state.form, fresh ? first : {})
  const ready: State = { ...state, session, form, nairaFirst, unanswered: false }
  const next = state.step.at === 'loading' ? { ...ready, step: { at: 'choose' } as const } : ready
  return { state: next, commands: requestNaira(next) }
}

const expired: Command = { do: 'notify-parent', message: { type: 'tip.expired' } }

/** A payment that is under way is still followed without the session, and its receipt stays. */
const goesOn: readonly StepName[] = ['sent', 'not-seen', 'done', 'naira-waiting', 'naira-late', 'naira-done']

export function sessionDead(state: State): Next {
  if (goesOn.includes(state.step.at)) return stay(state)
  if (state.page && state.session !== undefined) return startOver(state, { type: 'start-over' })
  return goTo(state, { at: 'session-over' }, expired)
}

export function resumed(state: State, { payment }: Of<'resumed'>): Next {
  return goTo(state, { at: 'sent', payment, since: state.now }, { do: 'watch-payment', payment })
}

export function resumedNaira(state: State, { tip, left }: Of<'resumed-naira'>): Next {
  if (left === true) return stay({ ...state, left: tip })
  const step = { at: 'naira-waiting', tip, markedSent: false } as const
  return goTo(state, step, { do: 'watch-naira', intentId: tip.intentId })
}

export function edited(state: State, { form }: Of<'edited'>): Next {
  const anonymous = form.anonymous === true ? { name: '', email: '' } : {}
  const { currency = state.form.currency, ...change } = withNamedCurrency(form, state)
  const edited: Form = { ...inCurrency(state.form, currency), ...change, ...anonymous }
  // Leaving a field shows faults and changes nothing.
  const next = { ...state, form: edited, quoted: form.showFaults ? state.quoted : undefined }
  const priced = ['method', 'currency', 'preset', 'other'].some((field) => field in form)
  if (!priced) return stay(next)
  const fitting = { ...next, form: fittingForm(next) }
  return { state: fitting, commands: requestNaira(fitting) }
}

/** A currency sign in the typed amount chooses the currency. */
function withNamedCurrency(form: Partial<Form>, { session }: State): Partial<Form> {
  const named = form.other === undefined ? undefined : namedCurrency(form.other)
  return named === undefined || session?.fiat.enabled !== true ? form : { ...form, currency: named }
}

/** Continues to the wallets, or starts a naira payment. An invalid form shows its faults. */
export function submittedForm(state: State): Next {
  const submitted: State = { ...state, form: { ...state.form, showFaults: true } }
  if (state.step.at !== 'choose' || chosenCents(state) === undefined) return stay(submitted)
  if (state.form.method === 'naira')
    return isUsableEmail(state.form.email) ? startNaira(submitted) : stay(submitted)
  return showWallets(submitted)
}

/** Returns to the form, which keeps its values. A naira tip that waits for its payment can be returned to. */
export function startOver(state: State, { method }: Of<'start-over'>): Next {
  const { step } = state
  const chosen = { ...state.form, ...(method !== undefined && { method }) }
  const form = fittingForm({ ...state, form: chosen })
  const left = step.at === 'naira-waiting' || step.at === 'naira-late' ? step.tip : state.left
  const { state: next } = goTo({ ...state, form, left }, { at: 'choose' })
  const saved =
    left === undefined ? { do: 'clear-saved' as const } : { do: 'save' as const, naira: left, left: true }
  return { state: next, commands: [saved, ...requestNaira(next)] }
}

export function returnToLeft(state: State): Next {
  const { left: tip } = state
  if (tip === undefined || state.step.at !== 'choose') return stay(state)
  const step = { at: 'naira-waiting', tip, markedSent: false } as const
  const watch = { do: 'watch-naira', intentId: tip.intentId } as const
  return goTo({ ...state, left: undefined }, step, { do: 'save', naira: tip }, watch)
}

/** In a frame the embedding page is asked for another session first. */
export function tipAgain(state: State): Next {
  const usable = state.page || state.step.at === 'naira-done'
  if (!state.framed) return another(state, usable)
  return goTo(state, { at: 'session-over', asked: state.now, usable }, expired)
}

/**
 * A session ends with its crypto tip: the checkout of another session follows. A naira tip leaves the session usable, and a creator's
 * page opens another by itself: the form is shown again.
 */
function another(state: State, usable: boolean | undefined): Next {
  if (usable === true) {
    const method = state.page ? state.form.method : 'naira'
    const form = { ...state.form, method, message: '', showFaults: false }
    return startOver({ ...state, form }, { type: 'start-over' })
  }
  if (state.session === undefined) return goTo(state, { at: 'session-over' })
  return goTo(state, { at: 'loading' }, { do: 'renew' })
}

/** The connection is back: what was requested in vain is requested again. */
export function connection(state: State, { offline }: Of<'connection'>): Next {
  const next = { ...state, offline }
  const { step } = state
  const refused = step.at === 'no-price' || step.at === 'naira-refused'
  if (!offline && state.offline && refused && step.reason === 'unanswered') return retried(next)
  return offline || state.naira !== 'unavailable' ? stay(next) : { state: next, commands: requestNaira(next) }
}

/**
 * Updates the clock. A price that was not approved in time expires. A naira price that was not answered is requested again. An
 * embedding page that did not answer is not waited for.
 */
export function tick(state: State, { now }: Of<'tick'>): Next {
  const later = { ...state, now }
  const { step } = state
  const priceMissing = step.at === 'choose' && state.naira === 'unavailable' && !state.offline
  if (priceMissing && now - state.nairaFailedAt >= nairaRetryMs)
    return { state: { ...later, nairaFailedAt: now }, commands: requestNaira(later) }
  if (step.at === 'session-over' && now - (step.asked ?? now) >= parentMs) return another(later, step.usable)
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
      return step.reason === 'unavailable' || step.reason === 'unanswered'
        ? price(state, step.wallet, step.address)
        : startOver(state, { type: 'start-over' })
    case 'naira-refused':
      return step.reason === 'amount' ? startOver(state, { type: 'start-over' }) : startNaira(state)
    case 'choose':
      return startOver(state, { type: 'start-over' })
    case 'not-seen':
    case 'not-landed':
    case 'failed-on-chain':
      return showWallets(state, { do: 'clear-saved' })
    default:
      return stay(state)
  }
}

export function connect(state: State, wallet: Extract<State['step'], { at: 'connecting' }>['wallet']): Next {
  return begin(state, { at: 'connecting', wallet }, (attempt) => ({ do: 'connect', attempt, wallet }))
}

/** Requests the price of the tip in the chosen token, unless one for this tip still holds. */
export function price(
  state: State,
  wallet: Extract<State['step'], { at: 'pricing' }>['wallet'],
  address: string,
): Next {
  const cents = chosenCents(state)
  if (cents === undefined) return goTo(state, { at: 'choose' })
  const { quoted, now } = state
  const holds = quoted?.address === address && now < Date.parse(quoted.intent.expiresAt)
  return begin(state, { at: 'pricing', wallet, address }, (attempt) => ({
    do: 'price',
    attempt,
    address,
    cents,
    intent: holds ? quoted.intent : undefined,
  }))
}
