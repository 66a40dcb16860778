import type { Event, Next } from '../machine/events.js'
import { chosenCents, chosenToken } from '../machine/form.js'
import type { State } from '../machine/state.js'
import { connect, price } from './choose.js'
import { failed, goTo, stay } from './next.js'
import { follow } from './pay.js'

type Of<Type extends Event['type']> = Extract<Event, { type: Type }>

/** Wallets introduce themselves when they like: the list is what it is now. */
export function wallets(state: State, { wallets: found }: Of<'wallets'>): Next {
  return stay({ ...state, wallets: found })
}

export function looked(state: State): Next {
  return stay({ ...state, looked: true })
}

export function picked(state: State, { wallet }: Of<'picked'>): Next {
  return state.step.at === 'wallets' ? connect(state, wallet) : stay(state)
}

/** `here`: the account works on the network the tip is for. */
export function connected(state: State, { attempt, address, here }: Of<'connected'>): Next {
  const { step } = state
  if (attempt !== state.attempt || step.at !== 'connecting') return stay(state)
  if (here) return price(state, step.wallet, address)
  return goTo(
    state,
    { at: 'wrong-network', wallet: step.wallet },
    failed('wrong_network', 'The wallet is on another network'),
  )
}

export function otherWallet(state: State): Next {
  return goTo(state, { at: 'wallets', declined: false })
}

/** The same page at the top level, where every wallet can live. */
export function openWindow(state: State): Next {
  return goTo(state, { at: 'elsewhere' }, { do: 'open-window' }, { do: 'listen' })
}

/** A blocked window leaves a link, which needs a code to continue this session. */
export function popup(state: State, { opened }: Of<'popup'>): Next {
  if (opened || state.step.at !== 'elsewhere') return stay(state)
  const next = goTo(state, { at: 'blocked', link: undefined })
  return { ...next, commands: handOff(state) }
}

export function usePhone(state: State): Next {
  const next = goTo(state, { at: 'phone', links: undefined })
  return { ...next, commands: [...handOff(state), { do: 'listen' }] }
}

/** Codes live for a minute: fresh links come while they are shown. */
export function handedOff(state: State, { links }: Of<'handed-off'>): Next {
  if (state.step.at === 'phone') return stay({ ...state, step: { at: 'phone', links } })
  if (state.step.at === 'blocked') return stay({ ...state, step: { at: 'blocked', link: links.browser } })
  return stay(state)
}

/** Another window of ours says that it goes on there. */
export function elsewhere(state: State): Next {
  if (state.step.at !== 'blocked' && state.step.at !== 'wallets') return stay(state)
  return goTo(state, { at: 'elsewhere' }, { do: 'listen' })
}

/** What was paid in another window or by a phone. Failed tries stay there: they are told where they happened. */
export function listed(state: State, { intents }: Of<'listed'>): Next {
  if (!['elsewhere', 'phone', 'blocked'].includes(state.step.at)) return stay(state)
  const moving =
    intents.find(({ status }) => status === 'confirmed') ??
    intents.find(({ status }) => status === 'submitted')
  if (moving === undefined) return stay(state)
  const payment = { intentId: moving.intentId, signature: moving.signature }
  return follow(goTo(state, { at: 'sent', payment, since: state.now }, { do: 'watch', payment }), moving)
}

function handOff(state: State): Next['commands'] {
  const cents = chosenCents(state)
  const mint = chosenToken(state)?.mint
  return cents === undefined || mint === undefined ? [] : [{ do: 'hand-off', cents, mint }]
}
