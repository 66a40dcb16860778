import { words } from '../../i18n/checkout.js'
import { common } from '../../i18n/common.js'
import { ngn, tokenAmount, usd } from '../../lib/money.js'
import { slowSentMs } from '../machine/pauses.js'
import type { State, Step } from '../machine/state.js'

type Said = { readonly [At in Step['at']]?: (step: Extract<Step, { at: At }>, state: State) => string }

const minuteMs = 60_000

const said: Said = {
  loading: () => common.loading,
  wallets: (_, { wallets, looked, framed }) => {
    if (wallets.length > 0) return words.walletsFound(wallets.length)
    if (!looked) return words.looking
    return framed ? `${words.noneHere} ${words.noneHereMore}` : `${words.noWallet} ${words.noWalletMore}`
  },
  phone: () => words.phone,
  elsewhere: () => `${words.elsewhere} ${words.updatesItself}`,
  connecting: ({ wallet }) => words.connecting(wallet.name),
  pricing: () => words.pricing,
  review: ({ pay }, { session }) => {
    const { input, output, quote } = pay.intent
    const paid = tokenAmount(input.amount, input.decimals, input.symbol)
    const received = tokenAmount(output.amount, output.decimals, output.symbol)
    return words.reviewHeard(paid, usd(quote.amountUsd), session?.creator.name ?? '', received)
  },
  approving: ({ pay }) => `${words.approving(pay.wallet.name)}. ${words.approvingMore}`,
  sent: ({ since }, { now }) =>
    now - since > slowSentMs ? `${words.sentSlow} ${words.sentSlowMore}` : `${words.sent} ${words.sentMore}`,
  done: ({ intent: { output } }, { session }) =>
    words.done(session?.creator.name ?? '', tokenAmount(output.amount, output.decimals, output.symbol)),
  'naira-starting': () => words.starting,
  'naira-waiting': ({ tip, said: told }, { now }) => {
    if (told) return `${words.searching} ${words.searchingMore}`
    if (tip.account === undefined) return `${words.finishThere} ${words.finishMore}`
    const left = Date.parse(tip.expiresAt) - now
    if (left <= minuteMs) return words.left('1:00')
    if (left <= 5 * minuteMs) return words.left('5:00')
    return words.instructionsHeard([...tip.account.number].join(' '))
  },
  'naira-done': ({ tip }) => words.nairaDone(ngn(tip.amountNgn)),
}

/**
 * What is read out politely now. It changes when something happens and not with every second; states that ask for
 * something are alerts of their own and say nothing here.
 */
export function announcement(state: State): string {
  if (state.offline) return `${words.offline} ${words.offlineMore}`
  const say = said[state.step.at] as ((step: Step, state: State) => string) | undefined
  return say?.(state.step, state) ?? ''
}
