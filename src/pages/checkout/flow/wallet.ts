import type { Next, Of } from '../machine/events.js'
import { chosenCents, chosenToken } from '../machine/form.js'
import type { State } from '../machine/state.js'
import { connect, price } from './choose.js'
import { failed, goTo, stay } from './next.js'
import { applyStatus } from './pay.js'

/** Wallets may register at any time: replaces the list. */
export function wallets(state: State, { wallets: found }: Of<'wallets'>): Next {
  return stay({ ...state, wallets: found })
}

export function walletSearchDone(state: State): Next {
  return stay({ ...state, walletSearchDone: true })
}

export function picked(state: State, { wallet }: Of<'picked'>): Next {
  return state.step.at === 'wallets' ? connect(state, wallet) : stay(state)
}

/** `rightNetwork`: the account works on the network of the tip. */
export function connected(state: State, { attempt, address, rightNetwork }: Of<'connected'>): Next {
  const { step } = state
  if (attempt !== state.attempt || step.at !== 'connecting') return stay(state)
  if (rightNetwork) return price(state, step.wallet, address)
  return goTo(
    state,
    { at: 'wrong-network', wallet: step.wallet },
    failed('wrong_network', 'The wallet is on another network'),
  )
}

export function otherWallet(state: State): Next {
  return goTo(state, { at: 'wallets', declined: false })
}

/** Continues in a top-level window, where every wallet works. */
export function openWindow(state: State): Next {
  return goTo(state, { at: 'other-window' }, { do: 'open-window' }, { do: 'watch-session' })
}

/** If the browser blocks the window, the page shows a link with a one-time code instead. */
export function popup(state: State, { opened }: Of<'popup'>): Next {
  if (opened || state.step.at !== 'other-window') return stay(state)
  const next = goTo(state, { at: 'blocked', link: undefined })
  return { ...next, commands: requestPhoneLinks(state) }
}

export function usePhone(state: State): Next {
  const next = goTo(state, { at: 'phone', links: undefined })
  return { ...next, commands: [...requestPhoneLinks(state), { do: 'watch-session' }] }
}

/** Codes are valid for one minute, so the links are renewed while they are shown. Without an answer there are none. */
export function phoneLinks(state: State, { links }: Of<'phone-links'>): Next {
  if (state.step.at === 'phone') return stay({ ...state, step: { at: 'phone', links } })
  if (state.step.at === 'blocked') return stay({ ...state, step: { at: 'blocked', link: links?.browser } })
  return stay(state)
}

export function otherWindowOpened(state: State): Next {
  if (state.step.at !== 'blocked' && state.step.at !== 'wallets') return stay(state)
  return goTo(state, { at: 'other-window' }, { do: 'watch-session' })
}

/** Follows a payment that was made in another window or on a phone. Failed attempts are shown only where they were made. */
export function sessionPayments(state: State, { intents }: Of<'session-payments'>): Next {
  if (!['other-window', 'phone', 'blocked'].includes(state.step.at)) return stay(state)
  const paid =
    intents.find(({ status }) => status === 'confirmed') ??
    intents.find(({ status }) => status === 'submitted')
  if (paid === undefined) return stay(state)
  const payment = { intentId: paid.intentId, signature: paid.signature }
  return applyStatus(
    goTo(state, { at: 'sent', payment, since: state.now }, { do: 'watch-payment', payment }),
    paid,
  )
}

function requestPhoneLinks(state: State): Next['commands'] {
  const cents = chosenCents(state)
  const mint = chosenToken(state)?.mint
  return cents === undefined || mint === undefined ? [] : [{ do: 'refresh-phone-links', cents, mint }]
}
