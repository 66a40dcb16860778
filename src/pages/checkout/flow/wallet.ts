import type { Next, Of } from '../machine/events.js'
import type { State } from '../machine/state.js'
import { connect, price } from './choose.js'
import { failed, goTo, inSteps, requestPhoneLinks, showWallets, stay } from './next.js'
import { applyStatus } from './pay.js'

export const picked = inSteps(['wallets'], (state, _, { wallet }: Of<'picked'>) => connect(state, wallet))

/** `rightNetwork`: the account works on the network of the tip. */
export const connected = inSteps(['connecting'], (state, { wallet }, event: Of<'connected'>) => {
  if (event.rightNetwork) return price(state, wallet, event.address)
  const command = failed('wrong_network', 'The wallet is on another network')
  return goTo(state, { at: 'wrong-network', wallet }, command)
})

export function otherWallet(state: State): Next {
  return showWallets(state)
}

/** Continues in a top-level window, where every wallet works. */
export function openWindow(state: State): Next {
  return goTo(state, { at: 'other-window' }, { do: 'open-window' }, { do: 'watch-session' })
}

/** If the browser blocks the window, the page shows a link with a one-time code instead. */
export const popup = inSteps(['other-window'], (state, _, { opened }: Of<'popup'>) =>
  opened ? stay(state) : goTo(state, { at: 'blocked', link: undefined }, ...requestPhoneLinks(state)),
)

export function usePhone(state: State): Next {
  return goTo(state, { at: 'phone', links: undefined }, ...requestPhoneLinks(state), { do: 'watch-session' })
}

/** Codes are valid for one minute, so the links are renewed while they are shown. Without an answer there are none. */
export function phoneLinks(state: State, { links }: Of<'phone-links'>): Next {
  if (state.step.at === 'phone') return stay({ ...state, step: { at: 'phone', links } })
  if (state.step.at === 'wallets') return stay({ ...state, step: { ...state.step, links } })
  if (state.step.at === 'blocked') return stay({ ...state, step: { at: 'blocked', link: links?.browser } })
  return stay(state)
}

export const otherWindowOpened = inSteps(['blocked', 'wallets'], (state) =>
  goTo(state, { at: 'other-window' }, { do: 'watch-session' }),
)

/** Follows a payment that was made in another window or on a phone. Failed attempts are shown only where they were made. */
const elsewhere = ['wallets', 'other-window', 'phone', 'blocked'] as const
export const sessionPayments = inSteps(elsewhere, (state, _, { intents }: Of<'session-payments'>) => {
  const paid =
    intents.find(({ status }) => status === 'confirmed') ??
    intents.find(({ status }) => status === 'submitted')
  if (paid === undefined) return stay(state)
  const payment = { intentId: paid.intentId, signature: paid.signature }
  return applyStatus(
    goTo(state, { at: 'sent', payment, since: state.now }, { do: 'watch-payment', payment }),
    paid,
  )
})
