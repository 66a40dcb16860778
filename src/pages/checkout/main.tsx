import '../ui/base.css'
import { render } from 'preact'
import { languageOf } from '../../kernel/languages.js'
import { TippingError } from '../../sdk/client/errors.js'
import type { SessionDescription } from '../../sdk/client/tip.js'
import { useLanguage, words } from '../i18n/checkout.js'
import { isPassing, isUnanswered, untilAnswered } from '../lib/failures.js'
import { App } from './app.js'
import { CheckoutDriver } from './driver.js'
import { firstState, type State } from './machine/state.js'
import { framed, heightOf, listenToWindows, postToParent, reportHeight } from './parent-page.js'
import { createTipService, pageTokens, rateOf, redeem } from './service.js'
import { firstCurrency, readDraft, storeToken, takeStartParameters } from './start-parameters.js'
import { openWallets } from './wallets.js'

/** Wallets may register late: only after this time the page says that there are none. */
const walletSearchMs = 1200
const tickMs = 1000
/** A new creator's wallet takes about a second. */
const preparedMs = 3000
const retryMs = [500, 1000, 2000, 4000]

const startParameters = takeStartParameters()
/** On a creator's public page the handle, and what the document says of the creator; on every page what it says of naira. */
const { page, session: described, rate, currency: ofCreator } = document.documentElement.dataset
const root = document.getElementById('app')
const isPhone = matchMedia('(hover: none) and (pointer: coarse)').matches
const first = firstState(framed, Date.now(), { ...readDraft(), ...startParameters.form }, isPhone, {
  page: page !== undefined,
  currency: firstCurrency(ofCreator),
  rate: rate === undefined ? undefined : rateOf(JSON.parse(rate)),
})
const checkout = new CheckoutDriver(first, show)
/** The service's clock minus this device's clock, ms. */
let clockAhead = 0

function show(state: State): void {
  if (root === null) return
  render(<App state={state} dispatch={checkout.dispatch} onShowWindow={() => checkout.showPopup()} />, root)
}

async function start(): Promise<void> {
  // The document says that the page is being prepared.
  if (page !== undefined && described === undefined) {
    setTimeout(() => location.reload(), preparedMs)
    return
  }
  // Without its file the texts stay English.
  await useLanguage(languageOf(document.documentElement.lang) ?? 'en').catch(() => undefined)
  root?.replaceChildren()
  show(first)
  reportHeight(document.body)
  document.documentElement.dataset['framed'] = String(framed)
  listen()
  const token = await tokenOf()
  if (token === undefined && page === undefined) {
    checkout.dispatch({ type: 'session-over' })
    return
  }
  const tokens = page === undefined ? { get: async () => token ?? '' } : pageTokens(page, token, storeToken)
  const service = createTipService(tokens, (ok) => checkout.dispatch({ type: 'answered', ok }))
  const session = described === undefined ? await answerOf(() => service.session()) : sessionOfPage(described)
  if (session === undefined) {
    checkout.dispatch({ type: 'session-over' })
    return
  }
  clockAhead = Date.parse(session.now) - Date.now()
  checkout.dispatch({ type: 'tick', now: Date.now() + clockAhead })
  document.title = words.title(session.creator.name)
  const wallets = openWallets((found) => checkout.dispatch({ type: 'wallets', wallets: found }))
  checkout.begin({ service, wallets, token, renew: () => answerOf(service.renew) })
  checkout.dispatch({ type: 'loaded', session })
  if (Date.parse(session.expiresAt) <= Date.parse(session.now)) checkout.dispatch({ type: 'session-over' })
  checkout.restoreScreen()
  setTimeout(() => checkout.dispatch({ type: 'wallet-search-done' }), walletSearchMs)
  postToParent({ type: 'ready', height: heightOf(document.body) })
}

function listen(): void {
  setInterval(() => checkout.dispatch({ type: 'tick', now: Date.now() + clockAhead }), tickMs)
  checkout.dispatch({ type: 'connection', offline: !navigator.onLine })
  for (const [name, offline] of [
    ['offline', true],
    ['online', false],
  ] as const)
    addEventListener(name, () => checkout.dispatch({ type: 'connection', offline }))
  listenToWindows({
    theme: (theme) => {
      document.documentElement.dataset['theme'] = theme
    },
    handover: () => checkout.dispatch({ type: 'other-window-opened' }),
  })
}

/** A session that is yet to be opened. It does not end. */
function sessionOfPage(text: string): SessionDescription {
  const ofPage = { theme: 'light', parentOrigin: location.origin, expiresAt: '9999-12-31T00:00:00Z' }
  return { ...ofPage, ...JSON.parse(text) }
}

async function tokenOf(): Promise<string | undefined> {
  if (startParameters.code === undefined) return startParameters.token
  const token = await answerOf(() => redeem(startParameters.code ?? ''))
  if (token !== undefined) storeToken(token)
  return token ?? startParameters.token
}

/** Undefined when the service refuses it permanently. */
function answerOf<Answer>(ask: () => Promise<Answer>): Promise<Answer | undefined> {
  return untilAnswered(ask, {
    pausesMs: retryMs,
    mayRepeat(error) {
      if (error instanceof TippingError && !isPassing(error) && error.status !== 409) return false
      if (isUnanswered(error)) checkout.dispatch({ type: 'answered', ok: false })
      return true
    },
  }).catch(() => undefined)
}

void start()
