import type { Event, Next, Of } from '../machine/events.js'
import type { State, StepName } from '../machine/state.js'
import { screenOf } from '../machine/steps.js'
import * as choose from './choose.js'
import * as naira from './naira.js'
import { goTo, stay } from './next.js'
import * as pay from './pay.js'
import * as wallet from './wallet.js'

type Handlers = {
  readonly [Type in Event['type']]: (state: State, event: Extract<Event, { type: Type }>) => Next
}

const handlers: Handlers = {
  loaded: choose.loaded,
  'session-over': choose.sessionDead,
  resumed: choose.resumed,
  'resumed-naira': choose.resumedNaira,
  'resumed-done': (state, { done }) => goTo(state, done),
  edited: choose.edited,
  'submitted-form': choose.submittedForm,
  'start-over': choose.startOver,
  'tip-again': choose.tipAgain,
  retried: choose.retried,
  tick: choose.tick,
  connection: choose.connection,
  answered: (state, { ok }) => stay(state.unanswered === !ok ? state : { ...state, unanswered: !ok }),
  navigated,
  'return-to-left': choose.returnToLeft,

  // Wallets may register at any time.
  wallets: (state, { wallets }) => stay({ ...state, wallets }),
  'wallet-search-done': (state) => stay({ ...state, walletSearchDone: true }),
  picked: wallet.picked,
  connected: wallet.connected,
  'other-wallet': wallet.otherWallet,
  'open-window': wallet.openWindow,
  popup: wallet.popup,
  'use-phone': wallet.usePhone,
  'phone-links': wallet.phoneLinks,
  'other-window-opened': wallet.otherWindowOpened,
  'session-payments': wallet.sessionPayments,

  priced: pay.priced,
  'price-failed': pay.priceFailed,
  'accepted-impact': pay.acceptedImpact,
  approved: pay.approved,
  cancelled: pay.cancelled,
  'pay-failed': pay.payFailed,
  sent: pay.sent,
  'payment-status': pay.paymentStatus,
  landed: pay.landed,
  'not-landed': pay.notLanded,

  'naira-quoted': naira.quoted,
  'naira-quote-failed': naira.quoteFailed,
  'naira-rate': naira.rateRead,
  'naira-started': naira.nairaStarted,
  'naira-refused': naira.nairaRefused,
  'marked-sent': naira.markedSent,
  'naira-status': naira.nairaStatus,
}

/** Money may be moving, or the result is shown: Back does not offer to pay again. */
const fixed: readonly StepName[] = [
  'loading',
  'session-over',
  'approving',
  'sent',
  'not-seen',
  'done',
  'naira-done',
  'mismatch',
]

/** The browser's Back or Forward. What cannot be shown again leads to the screen before it. */
function navigated(state: State, { screen }: Of<'navigated'>): Next {
  if (fixed.includes(state.step.at) || screen === screenOf(state.step.at)) return stay(state)
  if (screen === 'form') return choose.startOver(state, { type: 'start-over' })
  if (screen === 'payment')
    return state.left === undefined
      ? choose.startOver(state, { type: 'start-over' })
      : choose.returnToLeft(state)
  if (state.form.method === 'naira') return choose.startOver(state, { type: 'start-over' })
  const wallets = state.step.at === 'choose' ? choose.submittedForm(state) : wallet.otherWallet(state)
  return screen === 'other-device' && wallets.state.step.at === 'wallets'
    ? wallet.usePhone(wallets.state)
    : wallets
}

/** The checkout's state machine. It is a pure function, so that tests need no browser. */
export function advanceCheckout(state: State, event: Event): Next {
  const handle = handlers[event.type] as (state: State, event: Event) => Next
  return handle(state, event)
}
