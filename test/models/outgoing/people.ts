import { recreditableKinds, selfClosingKinds } from '../../../src/outgoing/decide.js'
import { heldStates, neverSentStates, type SendState } from '../../../src/outgoing/lifecycle.js'
import { withdrawalTable } from '../../../src/withdrawals/lifecycle.js'
import {
  type ActionOptions,
  checkAction,
  type OperatorAction,
} from '../../../src/withdrawals/review/check-action.js'
import type { Act } from '../checker.js'
import { type Command, newRow, type Row, type State, setRow, shownBy } from './state.js'
import { advanceTo, closeReviews, failUnpaid, mayGiveBack, type Rules, rowOf, setSend } from './steps.js'
import { paidKobo, providerRules, shownTransfer, viewOf } from './views.js'

// Creators and operators. What an operator may do is decided by src/withdrawals/review/check-action.ts itself.

export function creatorActs(rules: Rules, state: State): Act<State>[] {
  const row = rowOf(state)
  if (!state.asked) return withdrawalTable.initial.map((send) => ask(state, send))
  if (row?.status !== 'pending' || !neverSentStates.includes(row.send)) return []
  const asked = askIfOld(rules, state)
  const acts: Act<State>[] = []
  const act = (text: string, to: State): void => {
    acts.push({ text, to, helps: true })
  }
  if (asked !== true) act('the creator cancels', failUnpaid(rules, state, asked))
  if (row.send === 'identity_hold') {
    act('the identity is verified', setSend(rules, state, 'not_sent'))
    act(
      'the identity is verified, and the creator is asked to confirm',
      setSend(rules, state, 'confirmation_hold'),
    )
    act('the identity is refused', failUnpaid(rules, state, asked))
  }
  if (row.send === 'confirmation_hold') act('the creator confirms', setSend(rules, state, 'not_sent'))
  if (heldStates.includes(row.send))
    act('it is released, and is worth too little', failUnpaid(rules, state, asked))
  return acts
}

function ask(state: State, send: SendState): Act<State> {
  const { available, held, paid } = state.database
  const database = { row: { ...newRow, send }, available: available - 1, held: held + 1, paid }
  return {
    text: `the creator asks for a withdrawal (${send})`,
    to: { ...state, asked: true, database },
    helps: true,
  }
}

/** `askIfOld` of src/withdrawals/withdrawal-kind.ts. */
function askIfOld({ has }: Rules, state: State, adoptedToo = false): boolean | null {
  const row = rowOf(state)
  if (row?.old !== true) return null
  const hasIt = (row.adopted && !adoptedToo) || shownBy(state) !== null
  const isProven = state.restoreSettled || !has('absence after a restore counts after the settle time')
  return hasIt || isProven ? hasIt : null
}

/** What moves money, or leads to it. `close` and `reopen` do not. */
const actions: readonly (readonly [OperatorAction, ActionOptions])[] = [
  ['release', {}],
  ['replay', {}],
  ['void', {}],
  // The wait of a day is for the provider's sake: what it pays meanwhile is paid twice. The model needs no such luck.
  ['recredit', { now: true }],
  ['resolve', { paidKobo }],
  ['resolve', { paidKobo: 0n }],
]

export function operatorActs(rules: Rules, state: State): Act<State>[] {
  const row = rowOf(state)
  if (row === null) return []
  const { command } = state
  const asked = question(rules, state, row)
  const quick = commandActs(rules, state, row, asked)
  if (!rules.setting.slowOperator) return quick
  if (command === null) {
    const text = 'a command asks the provider, and stands still'
    return [...quick, { text, to: { ...state, command: asked }, helps: false }]
  }
  const later = { ...state, command: null }
  return [
    ...quick,
    { text: 'the command that stood still ends', to: later, helps: true },
    ...commandActs(rules, later, row, command).map((act) => ({
      ...act,
      text: `${act.text}, by the answer from before`,
    })),
  ]
}

/** What a command asks before its transaction. */
function question(rules: Rules, state: State, { request, settled }: Row): Command {
  const found = shownBy(state)
  const asked = rules.has('void waits for the settle time after a restore')
    ? askIfOld(rules, state, true)
    : found !== null
  return { found, asked, request, settled }
}

/** The transaction of a command: it checks again under the lock of the row. */
function commandActs(rules: Rules, state: State, row: Row, command: Command): Act<State>[] {
  // What was begun after the question had no time before it.
  const settled = command.request === row.request && command.settled
  const isCounted = rules.has('a command counts the time until its question')
  return allowedActions(rules, isCounted ? { ...row, settled } : row, command).map(([action, options]) => {
    const amount = options.paidKobo === undefined ? '' : options.paidKobo === 0n ? ' --paid 0' : ' --paid'
    const to = apply(rules, state, row, command, action, options)
    return { text: `an operator: ${action}${amount}`, to, helps: true }
  })
}

type Actions = typeof actions
/** The answers of `checkAction`, by everything that they depend on here. */
const allowed = new Map<string, Actions>()

function allowedActions(rules: Rules, row: Row, { found }: Command): Actions {
  const { status, send, sends, request, settled, recredited, resolved, reviews } = row
  const provider = providerRules(rules)
  const key =
    `${provider.deduplicates} ${provider.settleSeconds} ${status} ${send} ${sends} ${request > 0} ${settled} ${recredited} ` +
    `${resolved} ${reviews.join()} ${found?.state} ${found?.other}`
  const known = allowed.get(key)
  if (known !== undefined) return known
  const reviewed = {
    withdrawal: viewOf(row),
    found: shownTransfer(found),
    openReviews: reviews
      .filter((review) => !review.startsWith('('))
      .map((kind) => ({ kind, createdAt: new Date(0), ageSeconds: 0 })),
    closedReviews: [],
  } as unknown as Parameters<typeof checkAction>[1]
  const answers = actions.filter(([action, options]) => {
    // The only one that does not ask the provider.
    const asked = action === 'release' ? { ...reviewed, found: undefined } : reviewed
    return 'done' in checkAction(action, asked, provider, options)
  })
  allowed.set(key, answers)
  return answers
}

/** Of a review, closed or not. */
export const kindOf = (review: string): string => (review.startsWith('(') ? review.slice(1, -1) : review)

/** `applyAction` of src/withdrawals/review/operator-actions.ts. */
function apply(
  rules: Rules,
  state: State,
  row: Row,
  { found, asked }: Command,
  action: OperatorAction,
  { paidKobo: paid }: ActionOptions,
): State {
  const closed = (of: State, kinds: readonly string[]): State =>
    setRow(of, { reviews: closeReviews(row, kinds) })
  if (action === 'release') return setSend(rules, state, 'not_sent')
  if (action === 'replay')
    return closed(row.send === 'not_sent' ? state : setSend(rules, state, 'resend'), selfClosingKinds)
  // What was adopted the provider has shown, and may show no more: only --paid 0 counts with that.
  if (action === 'void') return closed(failUnpaid(rules, state, row.adopted || asked), selfClosingKinds)
  if (action === 'recredit') return closed(recredit(state), recreditableKinds)
  if (paid === 0n && found === null && !mayGiveBack(rules, state, row, asked)) return state
  const resolved = setRow(state, { resolved: paid !== 0n })
  return advanceTo(rules, resolved, paid === 0n ? 'failed' : 'completed')
}

function recredit(state: State): State {
  const { available, paid } = state.database
  const moved = { ...state, database: { ...state.database, available: available + 1, paid: paid - 1 } }
  return setRow(moved, { recredited: true })
}

/** A standby that has fallen behind takes over, or a backup is restored; then what was lost is compared, adopted and accepted. */
export function restoreActs(_: Rules, state: State): Act<State>[] {
  const { database, copy, restores, known, senders } = state
  const acts: Act<State>[] = []
  const act = (text: string, to: State, helps: boolean): void => {
    acts.push({ text, to, helps })
  }
  if (restores > 0 && copy === null)
    act('from now on the standby falls behind', { ...state, copy: database }, false)
  if (restores > 0 && copy !== null) {
    const back: State = { ...state, database: copy, copy: null, restores: restores - 1, known: false }
    act('the standby takes over, and the processes go on', back, false)
    const stopped = { ...back, senders: senders.map(() => null), follower: null, command: null }
    act('a backup is restored, after every process was stopped', stopped, false)
  }
  const lost = adopt(state)
  if (lost !== undefined) act('an operator adopts what the provider has', lost, true)
  else if (!known) {
    const accepted = { ...state, known: true, restoreSettled: false }
    act('the restore is accepted', setRow(accepted, { old: true }), true)
  }
  return acts
}

/** What only the provider has is debited and written again; what waits for its creator is taken out of the hold. */
function adopt(state: State): State | undefined {
  const row = rowOf(state)
  if (shownBy(state) === null) return undefined
  if (row !== null)
    return row.status === 'pending' && heldStates.includes(row.send)
      ? setRow(state, { send: 'not_sent', adopted: true, old: true })
      : undefined
  if (!state.asked) return undefined
  const { available, held, paid } = state.database
  const written: Row = { ...newRow, adopted: true, old: true }
  return { ...state, database: { row: written, available: available - 1, held: held + 1, paid } }
}
