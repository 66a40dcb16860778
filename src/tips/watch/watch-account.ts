import type { WatchedAccount } from '../../accounts/wallets/watch-queue.js'
import type { NamingSignature, SignaturePage } from '../../ports/chain.js'

// How the transactions of one account are read on: pure.

/** The supporter's client reports first: it may bring a message. */
const ripeMs = 30_000
/** A node shows what an account holds before it lists the transaction, and another node answers the next question. */
const settledMs = 90_000
/** A transaction that no node gives for so long is passed over. */
const stuckMostMs = 600_000

export const newAccount: WatchedAccount = { held: '0', changedMs: 0, isOpen: false }

/** The account as it is after its holdings were read. */
export function seeHeld(account: WatchedAccount, held: bigint, nowMs: number): WatchedAccount {
  if (account.held === String(held)) return account
  return { ...account, held: String(held), changedMs: nowMs, isOpen: true }
}

/** The page to read next. Undefined: there is nothing new. */
export function pageOf(
  address: string,
  { isOpen, before, until }: WatchedAccount,
): SignaturePage | undefined {
  return isOpen ? { address, before, until } : undefined
}

/** A page, divided by what is to do. */
export interface ReadPage {
  /** Succeeded within the window, and old enough. */
  readonly wanted: readonly string[]
  /** The account once they are dealt with. */
  readonly after: WatchedAccount
}

/** `windowMs`: what is older than this is not read. */
export function readPage(
  account: WatchedAccount,
  page: readonly NamingSignature[],
  nowMs: number,
  windowMs: number,
): ReadPage {
  const { before, newest, until, held, changedMs } = account
  const ageOf = ({ blockTime }: NamingSignature): number => nowMs - (blockTime?.getTime() ?? nowMs)
  const ripe = page.filter((one) => ageOf(one) >= ripeMs)
  const wanted = ripe.flatMap((one) => (one.failed || ageOf(one) > windowMs ? [] : [one.signature]))
  const start = newest ?? ripe[0]?.signature
  // Nodes return fewer than asked, so only an empty page is the end.
  const isLast = page.length === 0 || ripe.some((one) => ageOf(one) > windowMs)
  if (isLast) {
    // What was too young when a walk began is above its first transaction: the newest are read once more.
    const isOpen = newest !== undefined || ripe.length < page.length || nowMs - changedMs < settledMs
    return { wanted, after: { held, changedMs, isOpen, until: start ?? until } }
  }
  // What is too young now is read from the newest again.
  const position = ripe.length === 0 ? { before, newest } : { before: ripe.at(-1)?.signature, newest: start }
  return { wanted, after: { held, changedMs, isOpen: true, until, ...position } }
}

/**
 * The account when a transaction of its page could not be read: the page is read again. Undefined: that has lasted too long, and the
 * transaction is passed over.
 */
export function waitForUnread(account: WatchedAccount, nowMs: number): WatchedAccount | undefined {
  const { stuckMs = nowMs } = account
  return nowMs - stuckMs > stuckMostMs ? undefined : { ...account, stuckMs }
}

const shortestWaitMs = 15_000
const longestWaitMs = 3_600_000
/** A wallet waits this part of the time since it was active. */
const waitShare = 60

/** When a wallet is looked at again: every 15 s while its owner is there or something arrives, at last every hour. */
export function waitFor(activeForMs: number): number {
  return Math.min(longestWaitMs, Math.max(shortestWaitMs, activeForMs / waitShare))
}
