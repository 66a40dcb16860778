import type { SessionDescription } from '../../../sdk/client/tip.js'
import { type Currency, typedCents } from '../../lib/amount-text.js'
import type { Form, NairaQuote, State } from './state.js'

type FormState = Pick<State, 'form' | 'session' | 'rate'>

const presetsNgn = [500, 1000, 2000, 5000, 10_000, 20_000]
/** Offered at a time: the smallest that the limits allow. */
const mostPresets = 4
/** A naira tip's fee is 5 % of its amount. */
const nairaShare = 0.95
/** Floating point noise, far below a cent. */
const noise = 1e-6

/** In cents or kobo. */
export interface Limits {
  readonly least: number
  readonly most: number
}

/** What a dollar of the tip is in naira, with the form's method: exchanged for a wallet, charged for a naira payment. */
function nairaPerUsd({ form, rate }: FormState): number | undefined {
  return form.method === 'naira' ? rate?.chargedPerUsd : rate?.perUsd
}

/**
 * The smallest and the largest amount in the form's currency. A naira payment has limits in naira too. Undefined until the
 * rate is known that they need.
 */
export function limitsOf(state: FormState): Limits | undefined {
  const { form, session } = state
  if (session === undefined) return undefined
  const { minTipUsd, maxTipUsd } = session.limits
  const charges: Partial<SessionDescription['fiat']> = form.method === 'naira' ? session.fiat : {}
  const { minNgn = 0, maxNgn = Number.POSITIVE_INFINITY } = charges
  const perUsd = nairaPerUsd(state)
  if (form.currency === 'NGN') {
    if (perUsd === undefined) return undefined
    return {
      least: Math.ceil(Math.max(minNgn, minTipUsd * perUsd) - noise) * 100,
      most: Math.floor(Math.min(maxNgn, maxTipUsd * perUsd) + noise) * 100,
    }
  }
  const usdOf = (ngn: number): number | undefined => (perUsd === undefined ? undefined : ngn / perUsd)
  return {
    least: Math.ceil(Math.max(minTipUsd, usdOf(minNgn) ?? 0) * 100 - noise),
    most: Math.floor(Math.min(maxTipUsd, usdOf(maxNgn) ?? maxTipUsd) * 100 + noise),
  }
}

/** The chosen or typed amount in cents or kobo, whatever the limits. */
function chosenAmount({ preset, other, currency }: Form): number | undefined {
  return preset === 'other' ? typedCents(other, currency) : preset
}

/**
 * The amount of the tip in US cents; undefined when it is invalid, outside the limits, or in naira while there is no rate.
 * Naira are rounded up for a naira payment, so that all that is paid counts for the tip.
 */
export function chosenCents(state: FormState): number | undefined {
  const { form, session } = state
  const amount = chosenAmount(form)
  const limits = limitsOf(state)
  if (amount === undefined || session === undefined || limits === undefined) return undefined
  if (amount < limits.least || amount > limits.most) return undefined
  if (form.currency === 'USD') return amount
  const cents = amount / (nairaPerUsd(state) ?? 1)
  const rounded = form.method === 'naira' ? Math.ceil(cents - noise) : Math.round(cents)
  return Math.min(Math.max(rounded, session.limits.minTipUsd * 100), session.limits.maxTipUsd * 100)
}

/** The quote of the chosen amount. Who types naira pays exactly these. */
export function nairaQuote(state: FormState & Pick<State, 'naira'>): NairaQuote | undefined {
  const { form, rate, naira } = state
  const cents = chosenCents(state)
  if (cents === undefined) return undefined
  if (form.currency === 'USD') return typeof naira === 'object' && naira.cents === cents ? naira : undefined
  const kobo = chosenAmount(form)
  if (kobo === undefined || rate === undefined) return undefined
  const receivedCents = Math.floor((kobo * nairaShare) / rate.chargedPerUsd + noise)
  return { cents, amountNgn: kobo / 100, receivedUsd: receivedCents / 100 }
}

/** The amounts to offer in the form's currency, in cents or kobo. */
export function presetsOf(state: FormState): readonly number[] {
  const offered = state.form.currency === 'USD' ? (state.session?.presetsUsd ?? []) : presetsNgn
  const { least, most } = limitsOf(state) ?? { least: 0, most: Number.POSITIVE_INFINITY }
  return offered
    .map((amount) => amount * 100)
    .filter((amount) => amount >= least && amount <= most)
    .slice(0, mostPresets)
}

/** The form with a preset that is offered: the same one, else the second, else none. */
export function fittingForm(state: FormState): Form {
  const { form } = state
  const presets = presetsOf(state)
  if (form.preset === 'other' || presets.includes(form.preset)) return form
  return { ...form, preset: presets[1] ?? presets[0] ?? 'other' }
}

/** The form in another currency: an amount of the former one means nothing here. */
export function inCurrency(form: Form, currency: Currency): Form {
  if (form.currency === currency) return form
  return { ...form, currency, other: '', preset: form.preset === 'other' ? 'other' : 0 }
}

/** The chosen token, or the creator's first token when the chosen one is not offered. */
export function chosenToken({ form, session }: Pick<State, 'form' | 'session'>) {
  return session?.tokens.find(({ mint }) => mint === form.mint) ?? session?.tokens[0]
}

/** The form for a session: given values that fit it, otherwise its second preset and its first token. `first`: of a form that nobody has filled in. */
export function firstForm(
  session: SessionDescription,
  given: Form,
  first: Partial<Pick<Form, 'method' | 'currency'>>,
): Form {
  const { tokens, fiat } = session
  const untouched = given.other === '' && given.preset === 'other'
  const mint = tokens.some((token) => token.mint === given.mint) ? given.mint : (tokens[0]?.mint ?? '')
  const form: Form = {
    ...given,
    mint,
    preset: untouched ? 0 : given.preset,
    ...first,
    ...(!fiat.enabled && { method: 'crypto', currency: 'USD' }),
  }
  if (form.preset !== 'other') return fittingForm({ form, session, rate: undefined })
  return { ...form, preset: matchingPreset(form, session.presetsUsd) }
}

/** An amount that came from another window selects the preset with the same value. */
function matchingPreset({ other, currency }: Form, presetsUsd: readonly number[]): Form['preset'] {
  const amount = typedCents(other, currency)
  const offered = currency === 'USD' ? presetsUsd : presetsNgn
  return amount !== undefined && offered.includes(amount / 100) ? amount : 'other'
}

const emailForm = /^[^\s@,;]+@[^\s@,;.]+(\.[^\s@,;.]+)*\.[^\s@,;.]{2,}$/

/** Whether the receipt can be sent to this address. No address means no receipt. */
export function isUsableEmail(text: string): boolean {
  const email = text.trim()
  return email === '' || emailForm.test(email)
}
