import { sweepMachine } from '../../src/treasury/sweeps/lifecycle.js'
import { takeOutMachine } from '../../src/treasury/take-outs/lifecycle.js'
import { type Act, type Model, Steps } from './checker.js'

// What leaves a custody wallet (docs/decisions/0064): a sweep of one unit that its creator was paid for, and a take-out of another
// unit that is theirs. The wallet has both. Somebody who asks for a take-out may be a thief, and an RPC endpoint may lie.
//
// Assumed: one of two endpoints is honest; that something is final is believed of one; the network executes a message once,
// under whatever signature, until the last height of its blockhash.

/** What the network has of a message. `ready`: it is complete, and can land until its blockhash ends. */
type OnChain = 'incomplete' | 'ready' | 'landed' | 'failed' | 'never'

interface Move<RowState extends string> {
  readonly state: RowState
  readonly chain: OnChain
  /** It landed under the second signature that its payer has made. */
  readonly second: boolean
  /** The last valid height that was recorded is lower than the true one. */
  readonly low: boolean
  /** Nobody can say by the chain alone whether it landed. */
  readonly undecided: boolean
}

type SweepRow = 'none' | 'planned' | 'signed' | 'sent' | 'final' | 'failed' | 'dead'
type TakeOutRow = 'none' | 'prepared' | 'signed' | 'final' | 'expired' | 'failed'

interface State {
  /** `low`: the network has passed the height that a liar names; `end`: it has passed the true one. */
  readonly height: 'early' | 'low' | 'end'
  readonly sweep: Move<SweepRow>
  readonly takeOut: Move<TakeOutRow>
  /** The signature that the row of the take-out has is the second one. */
  readonly knowsSecond: boolean
  /** More transactions name the key of the take-out than anybody reads. */
  readonly flooded: boolean
  /** What the wallet holds on the chain. */
  readonly wallet: number
  /** The book of the wallet. */
  readonly swept: number
  readonly takenOut: number
  readonly inFlight: number
  readonly available: number
  readonly held: number
}

export type CustodyFix =
  | 'a signature is committed before the first send'
  | 'the last valid height is the highest of all endpoints'
  | 'with one endpoint a person decides'
  | 'the wallet may have signed a second time'
  | 'which signature is ours is computed'
  | 'nothing is given back while the wallet lacks it'

export interface CustodySetting {
  readonly endpoints: 1 | 2
  readonly liar: boolean
  readonly without?: CustodyFix
}

const newMove = { state: 'none', chain: 'incomplete', second: false, low: false, undecided: false } as const
const credited = 2

const start: State = {
  height: 'early',
  sweep: newMove,
  takeOut: newMove,
  knowsSecond: false,
  flooded: false,
  wallet: credited,
  swept: 0,
  takenOut: 0,
  inFlight: 0,
  available: 1,
  held: 0,
}

interface Rules {
  readonly setting: CustodySetting
  readonly steps: Steps
  readonly has: (fix: CustodyFix) => boolean
}

export function custodyModel(setting: CustodySetting, steps = new Steps()): Model<State> {
  const rules: Rules = { setting, steps, has: (fix) => setting.without !== fix }
  return {
    start,
    acts: (state) => [...networkActs(state), ...sweepActs(rules, state), ...takeOutActs(rules, state)],
    broken,
    hasEnded,
  }
}

function networkActs(state: State): Act<State>[] {
  const { sweep, takeOut, height, wallet, flooded } = state
  const acts: Act<State>[] = []
  const act = (text: string, change: Partial<State>, helps = true): void => {
    acts.push({ text, to: { ...state, ...change }, helps })
  }
  if (sweep.chain === 'ready') {
    act('the sweep lands', { sweep: { ...sweep, chain: 'landed' }, wallet: wallet - 1 })
    act('the sweep lands, and its instructions fail', { sweep: { ...sweep, chain: 'failed' } })
  }
  if (takeOut.chain === 'ready') {
    for (const second of [false, true])
      act(
        `the take-out lands under the ${second ? 'second' : 'first'} signature`,
        { takeOut: { ...takeOut, chain: 'landed', second }, wallet: wallet - 1 },
        !second,
      )
    act('the take-out lands, and its instructions fail', { takeOut: { ...takeOut, chain: 'failed' } })
  }
  if (takeOut.state === 'signed' && !flooded)
    act('somebody floods the key of the take-out', { flooded: true }, false)
  if (height === 'early') act('the chain passes the height that a liar names', { height: 'low' })
  if (height === 'low') {
    const end = <R extends string>(move: Move<R>): Move<R> =>
      move.chain === 'ready' || (move.chain === 'incomplete' && move.state !== 'none')
        ? { ...move, chain: 'never' }
        : move
    act('the chain passes the last valid height', { height: 'end', sweep: end(sweep), takeOut: end(takeOut) })
  }
  return acts
}

/** `CustodyChain.fates`: final is believed of one endpoint; that it failed or is gone needs all of them. */
function fateOf(
  { setting }: Rules,
  { height }: State,
  move: Move<string>,
  isKnown: boolean,
): 'final' | 'failed' | 'gone' | 'open' {
  // The only endpoint may have lost its history.
  const isForgotten = setting.endpoints === 1 && setting.liar
  const isExpired = height === 'end' || (height === 'low' && move.low)
  if (isForgotten) return isExpired ? 'gone' : 'open'
  if (move.chain === 'landed' && isKnown) return 'final'
  if (move.chain === 'failed') return 'failed'
  return isExpired ? 'gone' : 'open'
}

/** A liar names a height that is too low. With several endpoints all are asked, and the highest counts. */
function lowHeights({ setting, has }: Rules): readonly boolean[] {
  const isChecked = has('the last valid height is the highest of all endpoints')
  return setting.liar && setting.endpoints > 1 && !isChecked ? [false, true] : [false]
}

type ActOn<RowState> = (
  text: string,
  to: RowState,
  change?: Partial<State>,
  move?: Partial<Move<string>>,
  helps?: boolean,
) => void

function sweepActs(rules: Rules, state: State): Act<State>[] {
  const { sweep, height, inFlight } = state
  const acts: Act<State>[] = []
  const act: ActOn<SweepRow> = (text, to, change = {}, move = {}, helps = true) => {
    if (sweep.state !== 'none') rules.steps.take(sweepMachine, sweep.state, to as Exclude<SweepRow, 'none'>)
    acts.push({ text, to: { ...state, ...change, sweep: { ...sweep, ...move, state: to } }, helps })
  }
  if (sweep.state === 'none' && height === 'early') act('an operator plans a sweep', 'planned', {}, {}, false)
  if (sweep.state === 'planned') {
    act('the custodian refuses the sweep', 'dead')
    for (const low of height === 'early' ? lowHeights(rules) : [])
      act('the custodian signs the sweep', 'signed', { inFlight: inFlight + 1 }, { low })
  }
  if (sweep.state === 'signed') completeSweep(rules, state, act)
  if (sweep.state === 'sent') followSweep(rules, state, act)
  return acts
}

/** The command of an operator adds the signature of the payer, and is the only one that sends it. */
function completeSweep(rules: Rules, state: State, act: ActOn<SweepRow>): void {
  const { sweep, inFlight } = state
  const isIncomplete = sweep.chain === 'incomplete'
  const chain = isIncomplete ? 'ready' : sweep.chain
  act('the command commits the signature of the payer, and sends the sweep', 'sent', {}, { chain })
  if (isIncomplete && !rules.has('a signature is committed before the first send'))
    act('the command sends the sweep, and dies', 'signed', {}, { chain }, false)
  if (hasExpired(state, sweep))
    act('the payer did not sign the sweep in time', 'dead', { inFlight: inFlight - 1 })
}

const hasExpired = ({ height }: State, { low }: Move<string>): boolean =>
  height === 'end' || (height === 'low' && low)

/** `followSweep`: one that nobody knows and that can no longer land waits for a person if only one endpoint says so. */
function followSweep(rules: Rules, state: State, act: ActOn<SweepRow>): void {
  const { sweep, inFlight, swept } = state
  const landed = { inFlight: inFlight - 1, swept: swept + 1 }
  const back = { inFlight: inFlight - 1 }
  const fate = fateOf(rules, state, sweep, true)
  if (fate === 'final') act('the custodian sees the sweep final', 'final', landed)
  if (fate === 'failed') act('the custodian sees that the sweep failed', 'failed', back)
  if (fate !== 'gone') return
  if (isSure(rules)) act('the custodian gives the sweep back: no endpoint knows it', 'dead', back)
  else if (!sweep.undecided) act('the sweep waits for a person', 'sent', {}, { undecided: true })
  // The person looks it up in an explorer.
  else if (sweep.chain === 'landed')
    act('the operator finds the sweep, and changes the endpoint', 'final', landed)
  else act('the operator declares the sweep dead', 'dead', back)
}

/** Several endpoints say that they do not know it. */
const isSure = ({ setting, has }: Rules): boolean =>
  setting.endpoints > 1 || !has('with one endpoint a person decides')

function takeOutActs(rules: Rules, state: State): Act<State>[] {
  const { takeOut, height, inFlight, available, held } = state
  const acts: Act<State>[] = []
  const act: ActOn<TakeOutRow> = (text, to, change = {}, move = {}, helps = true) => {
    if (takeOut.state !== 'none')
      rules.steps.take(takeOutMachine, takeOut.state, to as Exclude<TakeOutRow, 'none'>)
    acts.push({ text, to: { ...state, ...change, takeOut: { ...takeOut, ...move, state: to } }, helps })
  }
  if (takeOut.state === 'none' && height === 'early')
    for (const low of lowHeights(rules))
      act('the creator asks for a take-out', 'prepared', {}, { low }, false)
  if (takeOut.state === 'prepared') {
    const holds = { available: available - 1, held: held + 1, inFlight: inFlight + 1 }
    if (height === 'early')
      act('the custodian signs what the payout wallet has signed', 'signed', holds, { chain: 'ready' })
    if (hasExpired(state, takeOut)) act('the take-out expires unsigned', 'expired')
  }
  if (takeOut.state === 'signed') followTakeOut(rules, state, act)
  return acts
}

function followTakeOut(rules: Rules, state: State, act: ActOn<TakeOutRow>): void {
  const { takeOut, inFlight, available, held } = state
  const back = { available: available + 1, held: held - 1, inFlight: inFlight - 1 }
  const away = { held: held - 1, inFlight: inFlight - 1, takenOut: state.takenOut + 1 }
  const fate = fateOf(rules, state, takeOut, takeOut.second === state.knowsSecond)
  if (fate === 'final') act('the custodian sees the take-out final', 'final', away)
  if (fate === 'failed') act('the custodian sees that the take-out failed', 'failed', back)
  if (fate !== 'gone') return
  const found = findLanded(rules, state)
  if (found === 'second') act('it landed under a second signature', 'signed', { knowsSecond: true })
  else if (found === 'none' && isSure(rules))
    act('the custodian gives the take-out back: no endpoint knows it', 'expired', back)
  else if (!takeOut.undecided) act('the take-out waits for a person', 'signed', {}, { undecided: true })
  else if (takeOut.chain === 'landed' && isSeen(rules, state))
    act('the operator finds the take-out landed', 'final', away)
  else act('the operator gives the take-out back', 'expired', back)
}

/** `findLanded`: which of the signatures that name the key is one of our message. */
function findLanded(
  { setting, has }: Rules,
  { takeOut, flooded, knowsSecond }: State,
): 'second' | 'none' | 'unknown' {
  if (!has('the wallet may have signed a second time')) return 'none'
  const isListed = takeOut.chain === 'landed' && takeOut.second && !knowsSecond
  // An endpoint may show anything as the transaction of a signature.
  const isBelieved = has('which signature is ours is computed') || !setting.liar
  if (isListed && !flooded && isBelieved) return 'second'
  return flooded ? 'unknown' : 'none'
}

/** `hasLeft`: the wallet holds less than the book says. Before that was looked at, a person had only the list of the key. */
function isSeen({ has }: Rules, { takeOut, flooded }: State): boolean {
  return has('nothing is given back while the wallet lacks it') || !(takeOut.second && flooded)
}

const mayLand = ({ chain }: Move<string>): boolean => chain === 'landed' || chain === 'ready'

function broken(state: State): string | undefined {
  const { sweep, takeOut, wallet, swept, takenOut, inFlight, available, held } = state
  const unbound = credited - swept - takenOut - inFlight
  if (Math.min(unbound, available, held, wallet) < 0) return 'nothing is moved that is not there'
  if (['dead', 'failed'].includes(sweep.state) && mayLand(sweep))
    return 'a sweep that is given back never lands'
  if (['expired', 'failed'].includes(takeOut.state) && mayLand(takeOut))
    return 'a take-out that is given back never lands'
  if (wallet < unbound) return 'what the book has is in the wallet'
  if (available + held > credited - swept - takenOut) return 'what is owed stays in custody'
  return undefined
}

/** Nothing is held or in flight, and the book is what the chain has. */
function hasEnded({ sweep, takeOut, wallet, swept, takenOut, inFlight, held }: State): boolean {
  const isOver =
    !['planned', 'signed', 'sent'].includes(sweep.state) && !['prepared', 'signed'].includes(takeOut.state)
  return isOver && inFlight === 0 && held === 0 && wallet === credited - swept - takenOut
}
