import { readFromTab, removeFromTab, storeInTab } from '../../lib/tab-storage.js'
import { type Draft, emptyDraft, type Flow, type SentWithdrawal } from './flow.js'

/** Only this tab stores account numbers, for the creator who typed them, until the withdrawal is made or they sign out. */
const draftKey = (userId: string) => `withdrawal-draft:${userId}`
/** A withdrawal is stored here until it gets an answer. */
const sentKey = (userId: string) => `withdrawal:${userId}`

export function readDraft(userId: string): Partial<Draft> | undefined {
  return readFromTab(draftKey(userId))
}

/** Stores what is filled in, so that a reload loses nothing. Without a draft, or with an empty one, nothing stays stored. */
export function keepDraft(userId: string, flow: Flow): void {
  if ('draft' in flow && flow.draft !== emptyDraft) storeInTab(draftKey(userId), flow.draft)
  else removeFromTab(draftKey(userId))
}

export function readSent(userId: string): SentWithdrawal | undefined {
  return readFromTab(sentKey(userId))
}

export function keepSent(userId: string, sent: SentWithdrawal | undefined): void {
  if (sent === undefined) removeFromTab(sentKey(userId))
  else storeInTab(sentKey(userId), sent)
}

/** At sign-out. Of a withdrawal without an answer only the warning to look for it stays. */
export function forgetAccounts(userId: string): void {
  removeFromTab(draftKey(userId))
  if (readSent(userId) !== undefined) storeInTab(sentKey(userId), { at: 0 })
}
