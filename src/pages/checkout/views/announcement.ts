import { words } from '../../i18n/checkout.js'
import { common } from '../../i18n/common.js'
import { ngn, tokenAmount, usd } from '../../lib/money.js'
import type { State, Step } from '../machine/state.js'
import { isStuck } from '../machine/steps.js'
import { slowSentMs } from '../watch.js'

type Texts = { readonly [At in Step['at']]?: (step: Extract<Step, { at: At }>, state: State) => string }

const minuteMs = 60_000

const texts: Texts = {
  loading: () => common.loading,
  wallets: (_, { wallets, walletSearchDone, framed, phone, session }) => {
    if (wallets.length > 0) return words.walletsFound(wallets.length)
    if (!walletSearchDone) return words.searchingWallets
    if (phone) return words.phone
    return framed
      ? `${words.noWalletInFrame} ${words.noWalletInFrameMore}`
      : `${words.noWallet} ${words.noWalletMore(session?.fiat.enabled === true)}`
  },
  phone: () => words.phone,
  'other-window': () => `${words.otherWindow} ${words.updatesItself}`,
  connecting: ({ wallet }) => words.connecting(wallet.name),
  pricing: () => words.pricing,
  review: ({ pay }, { session }) => {
    const { input, output, quote } = pay.intent
    const paid = tokenAmount(input.amount, input.decimals, input.symbol)
    const received = tokenAmount(output.amount, output.decimals, output.symbol)
    return words.reviewAnnouncement(paid, usd(quote.amountUsd), session?.creator.name ?? '', received)
  },
  approving: ({ pay }) => `${words.approving(pay.wallet.name)}. ${words.approvingMore}`,
  sent: ({ since }, { now }) =>
    now - since > slowSentMs ? `${words.sentSlow} ${words.sentSlowMore}` : `${words.sent} ${words.sentMore}`,
  done: ({ intent: { output } }, { session }) =>
    words.done(session?.creator.name ?? '', tokenAmount(output.amount, output.decimals, output.symbol)),
  'naira-starting': () => words.starting,
  'naira-waiting': ({ tip, markedSent }, { now }) => {
    if (markedSent) return `${words.searching} ${words.searchingMore}`
    if (tip.account === undefined) return `${words.finishInOtherTab} ${words.finishInOtherTabMore}`
    const left = Date.parse(tip.expiresAt) - now
    if (left <= minuteMs) return words.left('1:00')
    if (left <= 5 * minuteMs) return words.left('5:00')
    return words.instructionsAnnouncement([...tip.account.number].join(' '))
  },
  'naira-done': ({ tip }) => words.nairaDone(ngn(tip.amountNgn)),
}

/** The text for the live region. It changes with events, not every second. Steps to act in are alerts themselves. */
export function announcement(state: State): string {
  if (state.offline) return `${words.offline} ${words.offlineMore}`
  if (isStuck(state)) return `${words.unanswered} ${words.unansweredMore}`
  const say = texts[state.step.at] as ((step: Step, state: State) => string) | undefined
  return say?.(state.step, state) ?? ''
}
