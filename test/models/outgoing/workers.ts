import { type Decision, decide, recreditableKinds, selfClosingKinds } from '../../../src/outgoing/decide.js'
import {
  acceptableStates,
  hasEnded,
  neverSentStates,
  reconciledStates,
} from '../../../src/outgoing/lifecycle.js'
import type { Act } from '../checker.js'
import { execute } from './provider.js'
import { type Outcome, type Row, type Sender, type State, setRow, shownBy } from './state.js'
import {
  advanceTo,
  closeReviews,
  failUnpaid,
  isSendable,
  mayBegin,
  nextRequest,
  openReview,
  type Rules,
  rowOf,
  setSend,
  setUnsent,
} from './steps.js'
import { providerRules, shownTransfer, viewOf } from './views.js'

// The workers: senders (src/outgoing/send.ts), of which a second one takes over when the first is slow or dead, and a follower
// (src/outgoing/follow.ts). Between two acts of one worker everything else can happen, and it may die.

/** `accepted` and `rejected` are outcomes, everything else is not. */
const lostAnswer: Outcome = 'ambiguous'

export function senderActs(rules: Rules, state: State): Act<State>[] {
  return state.senders.flatMap((sender, index) => {
    // Workers are alike, so it does not matter which of the idle ones acts.
    if (sender === null) return state.senders.indexOf(null) === index ? takeActs(rules, state, index) : []
    if (sender.at === 'taken') return takenActs(rules, state, index, sender)
    return sender.at === 'recorded'
      ? recordedActs(rules, state, index, sender)
      : answeredActs(rules, state, index, sender)
  })
}

const put = (state: State, index: number, sender: Sender | null): State => ({
  ...state,
  senders: state.senders.map((other, at) => (at === index ? sender : other)),
})

/** `takeDueRows`: the lease of whoever had it may be over at any time. */
function takeActs(rules: Rules, state: State, index: number): Act<State>[] {
  const row = rowOf(state)
  if (row === null || !isSendable(rules, state)) return []
  const attempts = row.attempts + 1
  const { send, old, adopted } = row
  const looksUp = old && rules.has('what is older than a restore is looked up')
  const taken: Sender = {
    at: 'taken',
    send,
    attempts,
    old: looksUp,
    adopted,
    proven: looksUp && state.restoreSettled,
    looked: looksUp ? 'not yet' : 'absent',
  }
  const to = put(setRow(state, { attempts }), index, taken)
  return [{ text: `a worker takes the row (${send})`, to, helps: true }]
}

type Taken = Extract<Sender, { at: 'taken' }>

function takenActs(rules: Rules, state: State, index: number, sender: Taken): Act<State>[] {
  if (sender.looked === 'not yet') {
    const to = put(state, index, lookUp(rules, state, sender))
    return [{ text: 'the worker looks whether the provider has it', to, helps: true }]
  }
  const acts: Act<State>[] = [
    {
      text: 'the worker records that it is about to send',
      to: beginSending(rules, state, index, sender),
      helps: true,
    },
  ]
  if (sender.looked === 'absent') {
    const row = rowOf(state)
    const isOurs = row?.status === 'pending' && row.send === 'not_sent' && row.attempts === sender.attempts
    const refused = isOurs ? failUnpaid(rules, state, sender.old ? false : null) : state
    acts.push({
      text: 'the provider refuses the payee before anything is sent',
      to: put(refused, index, null),
      helps: false,
    })
  }
  return acts
}

/** `lookUp`: null ends the work on the row for now. */
function lookUp({ has }: Rules, state: State, sender: Taken): Sender | null {
  if (shownBy(state) !== null) return { ...sender, looked: 'found' }
  if (sender.adopted) return null
  const isProven = sender.proven || !has('absence after a restore counts after the settle time')
  return isProven ? { ...sender, looked: 'absent' } : null
}

/** `beginSending`: committed before the first byte is sent. What the provider has already counts as accepted. */
function beginSending(rules: Rules, state: State, index: number, sender: Taken): State {
  const row = rowOf(state)
  const isSame =
    row?.status === 'pending' &&
    row.send === sender.send &&
    row.attempts === sender.attempts &&
    (row.old === sender.old ||
      !rules.has('a row that was taken before a restore is taken again') ||
      !rules.has('what is older than a restore is looked up'))
  if (!isSame || !mayBegin(state, rules.has)) return put(state, index, null)
  const { old, looked } = sender
  const request = nextRequest(state)
  const sends = Math.min(row.sends + 1, 3)
  const next: Sender =
    looked === 'found'
      ? { at: 'answered', request, sends, old, outcome: 'accepted' }
      : { at: 'recorded', request, sends, old, late: false }
  if (!rules.has('sending is committed before the request')) return put(state, index, next)
  return put(setSend(rules, state, 'sending', { sends, request, settled: false }), index, next)
}

type Recorded = Extract<Sender, { at: 'recorded' }>

/** The request itself. Whatever becomes of it, this worker sends no other one. */
function recordedActs(rules: Rules, state: State, index: number, sender: Recorded): Act<State>[] {
  const { request, sends, old, late } = sender
  if (late && rules.has('a worker that stood still does not send')) {
    const to = put(setUnsent(rules, state, request), index, null)
    return [{ text: 'the worker finds that it stood still, and does not send', to, helps: true }]
  }
  const answered = (outcome: Outcome, after: State = state): State =>
    put(after, index, { at: 'answered', request, sends, old, outcome })
  const executed = execute(state, rules.setting)
  const acts: Act<State>[] = [
    { text: 'the worker dies before it sends', to: put(state, index, null), helps: false },
    { text: 'the provider refuses the payee', to: answered('rejected'), helps: false },
    { text: 'the provider refuses our account', to: answered('unavailable'), helps: false },
  ]
  if (executed === null)
    acts.push({ text: 'the provider refuses a used reference', to: answered(lostAnswer), helps: true })
  else
    acts.push(
      { text: 'the provider executes it', to: answered('accepted', executed), helps: true },
      {
        text: 'the provider executes it, and the answer is lost',
        to: answered(lostAnswer, executed),
        helps: false,
      },
    )
  if (state.onTheWire === 0) {
    const late = { ...state, onTheWire: 1 }
    acts.push({
      text: 'the worker gives up waiting for the answer',
      to: answered(lostAnswer, late),
      helps: false,
    })
  }
  return acts
}

type Answered = Extract<Sender, { at: 'answered' }>

function answeredActs(rules: Rules, state: State, index: number, sender: Answered): Act<State>[] {
  const { outcome } = sender
  return [
    { text: 'the worker dies before it records the answer', to: put(state, index, null), helps: false },
    {
      text: `the worker records the answer: ${outcome}`,
      to: put(record(rules, state, sender), index, null),
      helps: true,
    },
  ]
}

function record(rules: Rules, state: State, { outcome, sends, request, old }: Answered): State {
  const row = rowOf(state)
  if (row === null) return state
  if (outcome === 'accepted') return recordAccepted(rules, state, row)
  if (outcome === 'ambiguous' || (sends > 1 && rules.has('an answer resets only the request it answers')))
    return row.status === 'pending' && row.send === 'sending' ? setSend(rules, state, 'unknown') : state
  if (outcome === 'unavailable') return setUnsent(rules, state, request)
  const isOurs = rules.has('a refusal ends only a row with no other request')
    ? row.sends === 1 && row.request === request
    : true
  return row.status === 'pending' && isOurs ? recordRefused(rules, state, row, old) : state
}

function recordRefused(rules: Rules, state: State, row: Row, old: boolean): State {
  const failed = failUnpaid(rules, state, old ? false : null)
  return failed === state ? state : setRow(failed, { reviews: closeReviews(row, ['unknown']) })
}

function recordAccepted(rules: Rules, state: State, row: Row): State {
  if (row.status === 'pending') {
    const isLate = !rules.has('sending is committed before the request') && row.send === 'not_sent'
    const sent = isLate ? setSend(rules, state, 'sending') : state
    // In a restored row nothing was sent yet: the process reports an error, and the row is looked up.
    return isLate || acceptableStates.includes(row.send)
      ? advanceTo(rules, sent, 'submitted', ['unknown'])
      : state
  }
  return row.status === 'failed' ? setRow(state, { reviews: openReview(row, 'paid_after_failed') }) : state
}

export function followerActs(rules: Rules, state: State): Act<State>[] {
  const row = rowOf(state)
  const { follower } = state
  if (follower !== null) {
    const to = follow(rules, state)
    return [
      {
        text: 'the reconciler follows what the provider has shown',
        to: { ...to, follower: null },
        helps: true,
      },
    ]
  }
  if (row === null || !(reconciledStates.includes(row.send) || row.send === 'resend')) return []
  const attempts = row.attempts + 1
  // `reconcileNow`: what waits to be sent again is asked about first.
  const due = row.send === 'resend' ? setSend(rules, state, 'unknown') : state
  const asked = { ...setRow(due, { attempts }), follower: { attempts, found: shownBy(state) } }
  return [{ text: `the reconciler asks the provider (${row.send})`, to: asked, helps: true }]
}

/** `decideAndFollow`: only if nobody has taken the row since. The decision is the one of src/outgoing/decide.ts. */
function follow(rules: Rules, state: State): State {
  const row = rowOf(state)
  const { follower } = state
  if (row === null || follower === null || row.attempts !== follower.attempts) return state
  // Asked before a restore, about a row that is not sent after it: the table refuses the step, and the process reports an error.
  if (neverSentStates.includes(row.send)) return state
  const decision = decide(viewOf(row), shownTransfer(follower.found), providerRules(rules))
  if (decision.kind === 'advance') return advanceTo(rules, state, decision.to)
  if (decision.kind === 'resend') return setSend(rules, state, 'resend')
  if (decision.kind === 'poll-again' && row.send === 'sending') return setSend(rules, state, 'unknown')
  if (decision.kind === 'none' && follower.found !== null && !hasEnded(row.status))
    return setRow(state, { reviews: closeReviews(row, selfClosingKinds) })
  if (decision.kind === 'agree') return setRow(state, { reviews: outdate(row, decision.outdated) })
  return decision.kind === 'review' ? askPerson(rules, state, row, decision) : state
}

function askPerson(
  rules: Rules,
  state: State,
  row: Row,
  { review, hold }: Extract<Decision, { kind: 'review' }>,
): State {
  const isMissed = review === 'unknown' && row.status !== 'pending'
  if (isMissed && !rules.has('what was accepted and is shown no more is a review')) return state
  if (review === 'paid_after_recredit' && !rules.has('a payment after a re-credit is a review')) return state
  const held = hold && row.status === 'pending' ? setSend(rules, state, 'manual_review') : state
  return setRow(held, { reviews: openReview(row, review) })
}

/** `outdateReviews`: the provider shows the opposite. An open one ends only when nobody has lost anything. */
function outdate({ reviews }: Row, kinds: readonly string[]): readonly string[] {
  return reviews.filter((review) => {
    const isOpen = !review.startsWith('(')
    const kind = isOpen ? review : review.slice(1, -1)
    return !kinds.includes(kind) || (isOpen && !recreditableKinds.some((other) => other === kind))
  })
}
