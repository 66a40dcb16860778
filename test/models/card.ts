import { disputeMachine, refundStatusMachine } from '../../src/fiat/lifecycle.js'
import { hasStep } from '../../src/kernel/state-machine.js'
import {
  backOf,
  type CardFix,
  type CardSetting,
  type CaseName,
  type DisputeState,
  type Provider,
  providerActs,
  type State,
  startOf,
  whole,
} from './card-payment.js'
import { type Act, type Model, Steps } from './checker.js'

// What the service books of what comes back of a card payment, and what must never be. card-payment.ts has the provider.

interface Rules {
  readonly has: (fix: CardFix) => boolean
  readonly steps: Steps
}

export function cardModel(setting: CardSetting, steps = new Steps()): Model<State> {
  const rules: Rules = { has: (fix) => setting.without !== fix, steps }
  return {
    start: startOf(setting),
    acts: (state) => [
      ...providerActs(state),
      ...creatorActs(rules, state),
      ...refundActs(rules, state),
      ...lookActs(rules, state),
    ],
    broken,
    hasEnded,
  }
}

/** `coverReceivables`: every transfer that makes money available lets it cover what is owed, then what may be lost. */
function cover(state: State): State {
  let { available, held } = state
  const cases = { ...state.cases }
  for (const owed of [true, false])
    for (const name of ['dispute', 'outside', 'reversal', 'late'] as const) {
      const one = cases[name]
      if (one === null || one.owed !== owed) continue
      const taken = Math.min(one.amount - one.covered, available)
      cases[name] = { ...one, covered: one.covered + taken }
      available -= taken
      if (!owed) held += taken
    }
  return { ...state, available, held, cases }
}

const isShort = ({ cases }: State): boolean =>
  Object.values(cases).some((one) => one !== null && one.covered < one.amount)

/** What is gone of the payment, or on its way back. */
const goneOf = ({ booked, refund }: State): number =>
  booked.dispute +
  booked.outside +
  booked.reversal +
  booked.late +
  (isUnderWay(refund) || refund.status === 'completed' ? refund.amount : 0)

const isUnderWay = ({ status }: State['refund']): boolean => status === 'pending' || status === 'submitted'
const isUndecided = (dispute: DisputeState): boolean => dispute === 'open' || dispute === 'answered'
const isHolding = ({ dispute, settled }: State): boolean =>
  isUndecided(dispute) || (dispute === 'lost' && !settled)

function creatorActs(_: Rules, state: State): Act<State>[] {
  const { available, pending, withdrawn, daysOver, refund, held } = state
  const acts: Act<State>[] = []
  if (available > 0 && !isShort(state))
    acts.push({
      text: 'the creator withdraws',
      to: { ...state, available: 0, withdrawn: withdrawn + available },
      helps: false,
    })
  if (!daysOver)
    acts.push({
      text: 'the days of the card payment are over',
      to: cover({ ...state, daysOver: true, pending: 0, available: available + pending }),
      helps: true,
    })
  const left = whole - goneOf(state)
  for (let amount = 1; amount <= left; amount++) {
    if (refund.status !== 'none' || isHolding(state) || pending + available < amount) continue
    // From what is pending first; a refund never makes a debt.
    const fromPending = Math.min(pending, amount)
    const to: State = {
      ...state,
      pending: pending - fromPending,
      available: available - (amount - fromPending),
      held: held + amount,
      refund: { status: 'pending', amount, asked: false },
    }
    acts.push({ text: `the creator gives ${amount} of ${whole} back`, to, helps: false })
  }
  return acts
}

function refundActs(rules: Rules, state: State): Act<State>[] {
  const { refund, provider } = state
  const { status, asked } = refund
  const acts: Act<State>[] = []
  if (status === 'pending' && !asked) {
    const isRefused = isUndecided(provider.dispute) || whole - backOf(state) < refund.amount
    const sent: State = isRefused
      ? endRefund(rules, state, 'failed')
      : { ...state, refund: { ...refund, asked: true }, provider: { ...provider, refund: 'open' } }
    acts.push({
      text: isRefused ? 'the provider refuses the refund' : 'a worker requests the refund',
      to: sent,
      helps: true,
    })
  }
  if (!isUnderWay(refund) || !asked) return acts
  const steps = { open: 'submitted', paid: 'completed', failed: 'failed', none: 'submitted' } as const
  const shown = steps[provider.refund]
  if (shown !== status)
    acts.push({
      text: `a worker follows the refund, which the provider shows ${provider.refund}`,
      to: shown === 'submitted' ? moveRefund(rules, state, shown) : endRefund(rules, state, shown),
      helps: true,
    })
  return acts
}

/** What the provider has was accepted, so what failed or was paid there was `submitted` too. */
function moveRefund({ steps }: Rules, state: State, to: 'submitted' | 'completed' | 'failed'): State {
  const { refund } = state
  const { status, asked } = refund
  if (status === 'none') return state
  if (asked) steps.walk(refundStatusMachine, status, 'submitted')
  steps.walk(refundStatusMachine, asked ? 'submitted' : status, to)
  return { ...state, refund: { ...refund, status: to } }
}

/** Its money goes out, or back where it came from: to the reserve while the days are not over. */
function endRefund(rules: Rules, state: State, to: 'submitted' | 'completed' | 'failed'): State {
  if (to !== 'completed' && to !== 'failed') return state
  const { amount } = state.refund
  const ended = { ...moveRefund(rules, state, to), held: state.held - amount }
  if (to === 'completed') return ended
  const isReserved = !state.daysOver && rules.has('a refund that fails is pending again')
  const back: State = isReserved
    ? { ...ended, pending: ended.pending + amount }
    : cover({ ...ended, available: ended.available + amount })
  return rules.has('what a failed refund leaves is held for the dispute') && isHolding(back)
    ? hold(back)
    : back
}

/** `holdReceivable`: what the dispute may still take, as far as it is there. */
function hold(state: State): State {
  const amount = whole - goneOf(state) + state.booked.dispute
  const before = state.cases.dispute
  if (amount === 0 || before?.owed === true || (before?.amount ?? 0) >= amount) return state
  return cover({
    ...state,
    cases: { ...state.cases, dispute: { amount, covered: before?.covered ?? 0, owed: false } },
  })
}

/** `freeReceivable`: what was set aside is available again. */
function free(state: State, name: CaseName): State {
  const one = state.cases[name]
  if (one === null || one.owed) return state
  const cases = { ...state.cases, [name]: null }
  return cover({ ...state, cases, held: state.held - one.covered, available: state.available + one.covered })
}

/** `bookReturn`: the creator owes it. What was set aside pays first, then what is available, then what becomes available. */
function book(state: State, name: CaseName, units: number): State {
  const loss = Math.min(units, whole - goneOf(state))
  if (loss <= 0 || state.booked[name] > 0) return free(state, name)
  const before = state.cases[name]
  const setAside = before?.covered ?? 0
  const paid = Math.min(setAside, loss)
  return cover({
    ...state,
    held: state.held - setAside,
    available: state.available + setAside - paid,
    booked: { ...state.booked, [name]: loss },
    cases: { ...state.cases, [name]: { amount: loss, covered: paid, owed: true } },
  })
}

/** `restoreReturn`: the provider has given the money back, so the creator gets what was paid of it and owes nothing. */
function restore(state: State): State {
  const one = state.cases.dispute
  if (state.booked.dispute === 0) return state
  const booked = { ...state.booked, dispute: 0 }
  return cover({
    ...state,
    booked,
    cases: { ...state.cases, dispute: null },
    available: state.available + (one?.covered ?? 0),
  })
}

function lookActs(rules: Rules, state: State): Act<State>[] {
  const { look, provider } = state
  if (look === null)
    return [{ text: 'a worker lists what came back', to: { ...state, look: provider }, helps: true }]
  const booked = bookReversal(bookRefunds(rules, recordDispute(rules, state, look), look), look)
  return [{ text: 'the worker books what it has listed', to: { ...booked, look: null }, helps: true }]
}

/** `recordDispute`: held while it is open, owed when it is lost, free when it is won. */
function recordDispute({ has, steps }: Rules, state: State, look: Provider): State {
  const { dispute: shown } = look
  const { dispute: before } = state
  if (shown === 'none' || (before === shown && state.settled)) return state
  if (before !== 'none') {
    // An outdated look shows a state that cannot follow, or that came before: the next look mends it.
    if (!hasStep(disputeMachine, before, shown)) return state
    steps.take(disputeMachine, before, shown)
  }
  const moved: State = { ...state, dispute: shown, settled: true }
  if (isUndecided(shown)) return hold(moved)
  if (shown === 'won') return restore(free(moved, 'dispute'))
  if (isUnderWay(state.refund) && has('a lost dispute waits for the refunds of its payment'))
    return { ...hold(moved), settled: false }
  return book(moved, 'dispute', look.taken)
}

/** `recordRefunds`: those that nobody here has requested, and those that failed here and were paid after all. */
function bookRefunds({ has }: Rules, state: State, look: Provider): State {
  if (isUnderWay(state.refund)) return state
  const isLate = look.refund === 'paid' && state.refund.status === 'failed' && state.refund.asked
  const late =
    isLate && has('a refund that failed and was paid after all is booked')
      ? book(state, 'late', state.refund.amount)
      : state
  return look.outside > 0 ? book(late, 'outside', look.outside) : late
}

/** `recordReversal`: what neither a dispute nor a refund explains. */
function bookReversal(state: State, look: Provider): State {
  const explained = look.taken + look.outside + (look.refund === 'paid' ? state.refund.amount : 0)
  const isReversed = explained + look.reversed === whole
  if (!isReversed || isUndecided(state.dispute) || !state.settled || isUnderWay(state.refund)) return state
  return explained < whole ? book(state, 'reversal', whole - explained) : state
}

/** What the creator has, has lost and still owes is what the payment credited. */
function broken(state: State): string | undefined {
  const { pending, available, held, withdrawn, daysOver, booked, cases, refund } = state
  const owes = Object.values(cases).reduce(
    (sum, one) => sum + (one?.owed === true ? one.amount - one.covered : 0),
    0,
  )
  const lost =
    booked.dispute +
    booked.outside +
    booked.reversal +
    booked.late +
    (refund.status === 'completed' ? refund.amount : 0)
  if (Math.min(pending, available, held) < 0) return 'no balance is below zero'
  if (pending + available + held + withdrawn - owes + lost !== whole) return 'the books have each unit once'
  if (goneOf(state) > whole) return 'no case takes more than is left'
  if (!daysOver && withdrawn > 0) return 'card money cannot be withdrawn before its days are over'
  if (available > 0 && isShort(state)) return 'what is available covers what is owed'
  const setAside = cases.dispute?.covered ?? 0
  if (available > 0 && isHolding(state) && setAside < whole - goneOf(state))
    return 'what an open dispute may take is held'
  return undefined
}

/** Nothing is under way; the creator has lost exactly what the payer has back, and nothing of it is left with the platform. */
function hasEnded(state: State): boolean {
  const { provider, refund, dispute, settled, daysOver, booked } = state
  if (!daysOver || isUnderWay(refund) || isUndecided(provider.dispute) || provider.refund === 'open')
    return false
  if (dispute !== provider.dispute || !settled) return false
  const lost =
    booked.dispute +
    booked.outside +
    booked.reversal +
    booked.late +
    (refund.status === 'completed' ? refund.amount : 0)
  const heldForCases = Object.values(state.cases).reduce(
    (sum, one) => sum + (one?.owed === false ? one.covered : 0),
    0,
  )
  return lost === backOf(state) && state.held === 0 && heldForCases === 0
}
