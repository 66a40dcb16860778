import type { Currency } from '../lib/amount-text.js'
import { readFromTab, readKept, storeInTab } from '../lib/browser.js'
import type { Form } from './machine/state.js'

/** How the page was opened: with a session token or a one-time code, and perhaps with form values. */
export interface StartParameters {
  readonly token: string | undefined
  readonly code: string | undefined
  readonly form: Partial<Form>
}

const tokenKey = () => `tip:token:${location.pathname}`

/**
 * Reads the URL's fragment and removes it. From then on the token is only in memory and in this tab's storage, and in no URL
 * that could be copied or shown.
 */
export function takeStartParameters(): StartParameters {
  const [first = '', ...rest] = location.hash.slice(1).split('&')
  history.replaceState(history.state, '', location.pathname + location.search)
  const given = new URLSearchParams(rest.join('&'))
  const code = first.startsWith('h=') ? first.slice('h='.length) : undefined
  const token = code === undefined && first !== '' ? first : readFromTab<string>(tokenKey())
  if (token !== undefined) storeToken(token)
  return { token, code, form: parseForm(given) }
}

export function storeToken(token: string): void {
  storeInTab(tokenKey(), token)
}

/** The form values for the fragment of another window's URL. */
export function formFragment(form: Form, cents: number | undefined, withMessage: boolean): string {
  const given = new URLSearchParams()
  if (cents !== undefined) given.set('usd', (cents / 100).toFixed(2))
  if (form.mint !== '') given.set('mint', form.mint)
  if (form.method === 'naira') given.set('pay', 'naira')
  if (withMessage && form.message !== '') given.set('message', form.message)
  return given.size === 0 ? '' : `&${given}`
}

function parseForm(given: URLSearchParams): Partial<Form> {
  const [usd, mint, message] = ['usd', 'mint', 'message'].map((name) => given.get(name) ?? undefined)
  return {
    ...(usd !== undefined && { preset: 'other', currency: 'USD', other: usd.replace(/\.00$/, '') }),
    ...(mint !== undefined && { mint }),
    ...(message !== undefined && { message: message.slice(0, 500) }),
    ...(given.get('pay') === 'naira' && { method: 'naira' }),
  }
}

/** What was filled in stays in this tab, so that a reload or Back loses nothing. */
const draftKey = () => `tip:draft:${location.pathname}`

export function storeDraft(form: Form): void {
  storeInTab(draftKey(), { ...form, showFaults: false })
}

export function readDraft(): Partial<Form> {
  return readFromTab<Partial<Form>>(draftKey()) ?? {}
}

/** The currency that somebody chose, in this browser. */
export const currencyKey = 'tip:currency'
const nigerian = /-NG$|^(yo|ig|ha|pcm)(-|$)/i

/** The currency to begin with: the visitor's choice before, the creator's, or that of the visitor's country. The amounts decide nothing, so what a browser says of its country is enough. */
export function firstCurrency(ofCreator: string | undefined): Currency | undefined {
  const named = readKept(currencyKey) ?? ofCreator
  if (named === 'NGN' || named === 'USD') return named
  const inLagos = Intl.DateTimeFormat().resolvedOptions().timeZone === 'Africa/Lagos'
  return inLagos || navigator.languages.some((language) => nigerian.test(language)) ? 'NGN' : undefined
}
