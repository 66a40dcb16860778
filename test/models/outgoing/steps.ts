import { type ReviewReason, selfClosingKinds } from '../../../src/outgoing/decide.js'
import {
  hasEnded,
  type OutgoingStatus,
  type SendState,
  sendableStates,
  unansweredStates,
} from '../../../src/outgoing/lifecycle.js'
import { sendMachine, statusMachine } from '../../../src/withdrawals/lifecycle.js'
import type { Steps } from '../checker.js'
import { type Fix, type Row, type Setting, type State, setRow } from './state.js'

// The transactions of src/outgoing/steps.ts and the statements around them, one function each. Each happens at once, because each
// locks the row. One that finds the row in another state changes nothing.

export interface Rules {
  readonly setting: Setting
  readonly steps: Steps
  has(fix: Fix): boolean
}

export function rulesOf(setting: Setting, steps: Steps): Rules {
  return { setting, steps, has: (fix) => setting.without !== fix }
}

export const rowOf = ({ database }: State): Row | null => database.row

export function setSend({ steps }: Rules, state: State, send: SendState, also: Partial<Row> = {}): State {
  const row = rowOf(state)
  if (row === null) return state
  steps.take(sendMachine, row.send, send)
  return setRow(state, { send, ...also })
}

/** The request that `beginSending` records has this number. */
export function nextRequest({ database, copy, senders, command }: State): number {
  const requests = senders.map((sender) => (sender === null || sender.at === 'taken' ? 0 : sender.request))
  return Math.max(database.row?.request ?? 0, copy?.row?.request ?? 0, command?.request ?? 0, ...requests) + 1
}

/** The reviews of a row after this one was opened. Closed ones about money stay closed. */
export function openReview(row: Row, kind: string): readonly string[] {
  return row.reviews.includes(kind) || row.reviews.includes(`(${kind})`)
    ? row.reviews
    : inOrder([...row.reviews, kind])
}

/** Only the closed ones about money mean something later. */
export function closeReviews(row: Row, kinds: readonly string[]): readonly string[] {
  const kept = row.reviews.filter((review) => !kinds.includes(review) || !isSelfClosing(review))
  return inOrder(kept.map((review) => (kinds.includes(review) ? `(${review})` : review)))
}

const isSelfClosing = (kind: string): boolean => selfClosingKinds.some((other) => other === kind)
/** Several closed reviews of one kind are as one. */
const inOrder = (reviews: readonly string[]): readonly string[] => [...new Set(reviews)].sort()

/** `setUnsent`: the only request was not executed. */
export function setUnsent(rules: Rules, state: State, request: number): State {
  const row = rowOf(state)
  const isOurs = rules.has('an answer resets only the request it answers')
    ? row?.request === request && row.sends === 1
    : true
  if (row?.status !== 'pending' || !unansweredStates.includes(row.send) || !isOurs) return state
  return setSend(rules, state, 'not_sent', { sends: 0, request: 0 })
}

/** `advanceTo`: to the status that the provider shows, with the money of its end. What it shows closes reviews of these kinds. */
export function advanceTo(
  { steps }: Rules,
  state: State,
  target: OutgoingStatus,
  closes: readonly ReviewReason[] = selfClosingKinds,
): State {
  const row = rowOf(state)
  if (row === null || row.status === target) return state
  steps.walk(statusMachine, row.status, target)
  steps.take(sendMachine, row.send, 'sent')
  const moved = setRow(state, { status: target, send: 'sent', reviews: closeReviews(row, closes) })
  if (!hasEnded(target)) return moved
  const { held, paid, available } = moved.database
  const ends = target === 'completed' ? { paid: paid + 1 } : { available: available + 1 }
  return { ...moved, database: { ...moved.database, held: held - 1, ...ends } }
}

/**
 * `failUnpaid`: nothing was executed, so the money goes back. `asked`: whether the provider has it; null: it was not asked, or need
 * not show it yet. Refused after a restore when these rows cannot know it.
 */
export function failUnpaid(rules: Rules, state: State, asked: boolean | null): State {
  const row = rowOf(state)
  if (row === null || !mayGiveBack(rules, state, row, asked)) return state
  const { steps } = rules
  steps.take(statusMachine, row.status, 'failed')
  steps.take(sendMachine, row.send, 'refused')
  const failed = setRow(state, { status: 'failed', send: 'refused' })
  const { held, available } = failed.database
  return { ...failed, database: { ...failed.database, held: held - 1, available: available + 1 } }
}

/** `requireUnsent`. */
export function mayGiveBack({ has }: Rules, { known }: State, row: Row, asked: boolean | null): boolean {
  return (
    !has('nothing that a restore may have lost is given back') || (known && (!row.old || asked === false))
  )
}

/** `takeDueRows` of the senders: its condition is `isSendable`. */
export function isSendable({ has }: Rules, state: State): boolean {
  const row = rowOf(state)
  return row?.status === 'pending' && sendableStates.includes(row.send) && mayBegin(state, has)
}

/** `database_state() = 'known'`, in every statement that begins to move money. */
export function mayBegin({ known }: State, has: Rules['has']): boolean {
  return known || !has('a restored database sends nothing')
}
