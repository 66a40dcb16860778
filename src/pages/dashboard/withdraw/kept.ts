import type { Sent } from './flow.js'

const key = 'withdrawal'

/** What this tab sent and has no answer to. */
export function keptWithdrawal(): Sent | undefined {
  const text = sessionStorage.getItem(key)
  return text === null ? undefined : (JSON.parse(text) as Sent)
}

/** Kept before it is sent, so that a page that dies in between asks for the same withdrawal and for no other. */
export function keepWithdrawal(sent: Sent): void {
  sessionStorage.setItem(key, JSON.stringify(sent))
}

export function forgetWithdrawal(): void {
  sessionStorage.removeItem(key)
}
