import { recall, remember } from '../../lib/store.js'
import type { Form } from '../machine/state.js'

/** How this page was opened: with the session's token, or with a code that continues it; and what was filled in. */
export interface Arrival {
  readonly token: string | undefined
  readonly code: string | undefined
  readonly form: Partial<Form>
}

const tokenKey = () => `tip:token:${location.pathname}`

/**
 * Takes what the address carried behind its hash and removes it there: from then on the token is in memory and in this
 * tab's storage, in no address that could be copied, shown or sent along.
 */
export function takeArrival(): Arrival {
  const [first = '', ...rest] = location.hash.slice(1).split('&')
  history.replaceState(history.state, '', location.pathname + location.search)
  const given = new URLSearchParams(rest.join('&'))
  const code = first.startsWith('h=') ? first.slice('h='.length) : undefined
  const token = code === undefined && first !== '' ? first : recall<string>(tokenKey())
  if (token !== undefined) keepToken(token)
  return { token, code, form: formOf(given) }
}

export function keepToken(token: string): void {
  remember(tokenKey(), token)
}

/** What another window needs to go on where this one is. */
export function carried(form: Form, cents: number | undefined, withMessage: boolean): string {
  const given = new URLSearchParams()
  if (cents !== undefined) given.set('usd', (cents / 100).toFixed(2))
  if (form.mint !== '') given.set('mint', form.mint)
  if (form.method === 'naira') given.set('pay', 'naira')
  if (withMessage && form.message !== '') given.set('message', form.message)
  return given.size === 0 ? '' : `&${given}`
}

function formOf(given: URLSearchParams): Partial<Form> {
  const [usd, mint, message] = ['usd', 'mint', 'message'].map((name) => given.get(name) ?? undefined)
  return {
    ...(usd !== undefined && { preset: 'other', other: usd.replace(/\.00$/, '') }),
    ...(mint !== undefined && { mint }),
    ...(message !== undefined && { message: message.slice(0, 500) }),
    ...(given.get('pay') === 'naira' && { method: 'naira' }),
  }
}
