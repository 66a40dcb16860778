import '../ui/base.css'
import { render } from 'preact'
import { TippingError } from '../../sdk/client/errors.js'
import { pause } from '../../sdk/client/pause.js'
import { words } from '../i18n/checkout.js'
import { App } from './app.js'
import { framed, hearOthers, heightOf, reportHeight, tellParent } from './frame/around.js'
import { keepToken, takeArrival } from './frame/arrival.js'
import { Checkout } from './machine/driver.js'
import { firstState, type State } from './machine/state.js'
import { createTipService, redeem } from './service.js'
import { openWalletBook } from './wallet-book.js'

/** Wallets may introduce themselves late; until then their absence is no news. */
const lookMs = 1200
const tickMs = 1000
const retryMs = [500, 1000, 2000, 4000]

const arrival = takeArrival()
const root = document.getElementById('app')
const checkout = new Checkout(firstState(framed, Date.now(), arrival.form), show)
/** The service's clock less this device's, ms. */
let clockAhead = 0

function show(state: State): void {
  if (root === null) return
  render(<App state={state} dispatch={checkout.dispatch} onShowWindow={() => checkout.showPopup()} />, root)
}

async function start(): Promise<void> {
  show(firstState(framed, Date.now(), arrival.form))
  if (root !== null) reportHeight(root)
  document.documentElement.dataset['framed'] = String(framed)
  listen()
  const token = await tokenOf()
  if (token === undefined) {
    checkout.dispatch({ type: 'session-dead' })
    return
  }
  const service = createTipService(token)
  const session = await untilAnswered(() => service.session())
  if (session === undefined) {
    checkout.dispatch({ type: 'session-dead' })
    return
  }
  clockAhead = Date.parse(session.now) - Date.now()
  checkout.dispatch({ type: 'tick', now: Date.now() + clockAhead })
  document.title = words.title(session.creator.name)
  const wallets = openWalletBook((found) => checkout.dispatch({ type: 'wallets', wallets: found }))
  checkout.begin({ service, wallets, token })
  checkout.dispatch({ type: 'loaded', session })
  if (Date.parse(session.expiresAt) <= Date.parse(session.now)) checkout.dispatch({ type: 'session-dead' })
  setTimeout(() => checkout.dispatch({ type: 'looked' }), lookMs)
  if (root !== null) tellParent({ type: 'ready', height: heightOf(root) })
}

function listen(): void {
  setInterval(() => checkout.dispatch({ type: 'tick', now: Date.now() + clockAhead }), tickMs)
  for (const [name, offline] of [
    ['offline', true],
    ['online', false],
  ] as const)
    addEventListener(name, () => checkout.dispatch({ type: 'connection', offline }))
  hearOthers({
    theme: (theme) => {
      document.documentElement.dataset['theme'] = theme
    },
    handover: () => checkout.dispatch({ type: 'elsewhere' }),
  })
}

async function tokenOf(): Promise<string | undefined> {
  if (arrival.code === undefined) return arrival.token
  const token = await untilAnswered(() => redeem(arrival.code ?? ''))
  if (token !== undefined) keepToken(token)
  return token ?? arrival.token
}

/** The answer, however long it takes to come; undefined when the service refuses for good. */
async function untilAnswered<Answer>(ask: () => Promise<Answer>): Promise<Answer | undefined> {
  for (let tries = 0; ; tries++) {
    try {
      return await ask()
    } catch (error) {
      if (error instanceof TippingError && !error.temporary && error.status !== 409) return undefined
      await pause(retryMs[tries] ?? retryMs.at(-1) ?? tickMs, undefined)
    }
  }
}

void start()
