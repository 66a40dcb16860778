import { hasEnded } from '../../../src/outgoing/lifecycle.js'
import { type Model, Steps } from '../checker.js'
import { creatorActs, kindOf, operatorActs, restoreActs } from './people.js'
import { providerActs } from './provider.js'
import { isUnpaid, normalize, type Row, type Setting, type State, startOf } from './state.js'
import { rulesOf } from './steps.js'
import { followerActs, senderActs } from './workers.js'

// What must never happen to money that leaves by the naira provider, whatever the order of the acts.

export function outgoingModel(setting: Setting, steps = new Steps()): Model<State> {
  const { acts, ...model } = countingModel(setting, steps)
  return { ...model, acts: (state) => acts(state).map((act) => ({ ...act, to: normalize(act.to) })) }
}

/** The same with fences and requests as they are counted, and with every worker in its place. Its states are endless. */
export function countingModel(setting: Setting, steps = new Steps()): Model<State> {
  const rules = rulesOf(setting, steps)
  return {
    start: startOf(setting),
    acts: (state) => [
      ...creatorActs(rules, state),
      ...senderActs(rules, state),
      ...followerActs(rules, state),
      ...operatorActs(rules, state),
      ...restoreActs(rules, state),
      ...providerActs(state, setting),
    ],
    broken,
    hasEnded: isSettled,
  }
}

function broken(state: State): string | undefined {
  const { database, executed, transfer, turnedBack } = state
  const { row } = database
  if (executed > 1) return 'the provider executes a reference once'
  if (!isConserved(state)) return 'the books have the money once, where the row says that it is'
  if (row !== null && hasMoneyBack(row) && transfer !== null && !isUnpaid(transfer) && !turnedBack)
    return 'nobody is paid and has the money back'
  return undefined
}

/** The creator has the money again. */
function hasMoneyBack({ status, recredited }: Row): boolean {
  return status === 'failed' || recredited
}

function isConserved({ database: { row, available, held, paid } }: State): boolean {
  const isFree = row === null || hasMoneyBack(row)
  const isHeld = row !== null && !hasEnded(row.status)
  return available === Number(isFree) && held === Number(isHeld) && paid === Number(!isFree && !isHeld)
}

/** The money is where it belongs; or the provider has turned, and a review of exactly that is or was in front of a person. */
function isSettled({ database: { row }, known, asked, transfer }: State): boolean {
  if (!asked) return true
  if (!known) return false
  if (row === null) return transfer === null
  if (!hasEnded(row.status)) return false
  // A person has said what was paid.
  if (transfer === null && row.resolved) return true
  const isPaid = transfer !== null && !isUnpaid(transfer)
  if (isPaid !== hasMoneyBack(row)) return true
  const kinds = isPaid
    ? ['paid_after_failed', 'paid_after_recredit', 'mismatch']
    : ['reversed', 'failed_after_completed']
  return row.reviews.some((review) => kinds.includes(kindOf(review)))
}
