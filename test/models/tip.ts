import { tipMachine } from '../../src/tips/lifecycle.js'
import {
  classifyFinality,
  isFinalized,
  isLanded,
  vanishedAfterMs,
} from '../../src/tips/verify/retry-schedule.js'
import type { DueTip } from '../../src/tips/verify/tip-queue.js'
import { type Act, type Model, Steps } from './checker.js'
import {
  callerActs,
  chainActs,
  type Effect,
  honestStatuses,
  lies,
  longAgo,
  type Shown,
  type State,
  type Status,
  startOf,
  type TipFix,
  type TipSetting,
  type Verifier,
} from './tip-chain.js'

// What the verifier does with a crypto tip, and what must never be. tip-chain.ts has the chain, the endpoints and the callers.

export function tipModel(setting: TipSetting, steps = new Steps()): Model<State> {
  const has = (fix: TipFix): boolean => setting.without !== fix
  const rules: Rules = {
    has,
    steps,
    isLarge: setting.large && has('a large credit waits for every endpoint'),
  }
  return {
    start: startOf(setting),
    acts: (state) => [...chainActs(has, state), ...callerActs(state), ...verifierActs(rules, state)],
    broken,
    hasEnded,
  }
}

interface Rules {
  readonly has: (fix: TipFix) => boolean
  readonly steps: Steps
  /** A credit needs the agreement of every endpoint. */
  readonly isLarge: boolean
}

/** One verifier at a time per act: it takes the tip and asks one endpoint, then asks for the transaction, then commits. */
function verifierActs(rules: Rules, state: State): Act<State>[] {
  return state.verifiers.flatMap((verifier, index) => {
    if (verifier === null) return state.verifiers.indexOf(null) === index ? takeActs(state, index) : []
    return verifier.shown === null
      ? readActs(rules, state, index, verifier)
      : [
          {
            text: `the verifier commits what it has read (${verifier.taken})`,
            to: put(commit(rules, state, verifier), index, null),
            helps: true,
          },
        ]
  })
}

function put(state: State, index: number, verifier: Verifier | null): State {
  const verifiers = state.verifiers.map((other, at) => (at === index ? verifier : other))
  const textOf = (one: Verifier | null): string => JSON.stringify(one)
  return { ...state, verifiers: verifiers.sort((one, other) => (textOf(one) < textOf(other) ? -1 : 1)) }
}

function takeActs(state: State, index: number): Act<State>[] {
  const { claim, status, rests, isFinal, liar, chain, slot, missing } = state
  if (claim === 'none' || status === 'failed' || isFinal || rests) return []
  const take = (said: Status, who: string, helps: boolean): Act<State> => ({
    text: `a verifier takes the tip (${status}), and ${who} endpoint says ${said.commitment} in slot ${said.slot}${said.failed ? ', failed' : ''}`,
    to: put(state, index, {
      taken: status,
      slot,
      missing,
      claim,
      status: said,
      shown: null,
      agreed: null,
      dropped: 'no',
    }),
    helps,
  })
  return [
    ...honestStatuses(chain).map((said) => take(said, 'the honest', true)),
    ...(liar ? lies.map((said) => take(said, 'the lying', false)) : []),
  ]
}

/** The transaction from one endpoint, and what all of them say together where that is asked. */
function readActs({ has }: Rules, state: State, index: number, verifier: Verifier): Act<State>[] {
  const { chain, liar } = state
  const { status } = verifier
  const landed = chain.stage === 'confirmed' || chain.stage === 'final'
  const truth: Shown | 'none' = landed ? { slot: chain.slot, effect: chain.effect } : 'none'
  const agreed = chain.stage === 'final' ? chain.effect : null
  // An endpoint that is far beyond the slot of the tip and does not know it never will, if the slot is true. Or it failed for good.
  const isGone = chain.stage === 'gone' || verifier.slot === longAgo
  const hasFailed = chain.stage === 'final' && chain.effect === 'fails'
  const dropped: Verifier['dropped'] = hasFailed ? 'failed' : !landed && isGone ? 'unknown' : 'no'
  const read = (text: string, change: Partial<Verifier>, helps: boolean): Act<State> => ({
    text,
    to: put(state, index, { ...verifier, ...change }),
    helps,
  })
  const acts = [
    read(
      'the verifier reads the transaction of the honest endpoint',
      { shown: truth, agreed, dropped },
      true,
    ),
  ]
  if (!liar) return acts
  const alone = {
    dropped: has('a tip fails only when every endpoint has lost it') ? dropped : ('failed' as const),
  }
  for (const effect of ['pays', 'pays less'] as const)
    acts.push(
      read(
        `the verifier reads the transaction of the lying endpoint: it ${effect}`,
        // A liar can also agree with the truth.
        { shown: { slot: status.slot, effect }, agreed: agreed === effect ? effect : null, ...alone },
        false,
      ),
    )
  return acts
}

const dueTip = (slot: number, missing: State['missing']): DueTip =>
  ({
    slot: BigInt(slot),
    missingMs: missing === 'no' ? null : missing === 'for long' ? vanishedAfterMs : 0,
  }) as DueTip

const statusOf = ({ slot, ...status }: Status) => ({ ...status, slot: BigInt(slot) })

function commit(rules: Rules, state: State, verifier: Verifier): State {
  return verifier.taken === 'pending'
    ? commitPending(rules, state, verifier)
    : commitConfirmed(rules, state, verifier)
}

/** `verifyPending`: confirms it, or credits what is no tip once it is final. */
function commitPending(rules: Rules, state: State, verifier: Verifier): State {
  const { has, steps, isLarge } = rules
  const { status, shown, claim, agreed } = verifier
  if (shown === 'none' || shown === null) return state
  const { effect, slot } = shown
  if (effect === 'fails' || !isLanded(statusOf(status))) return state
  const isFinal = isFinalized(statusOf(status), { slot: BigInt(slot) })
  if (claim === 'false')
    return isFinal && (agreed === effect || !isLarge) ? creditWithoutTip(state, effect) : state
  if (state.status !== 'pending') return state
  steps.take(tipMachine, 'pending', 'confirmed')
  const isCredited = state.other !== 'none' && has('what was credited without a tip is not credited again')
  const isEnd = isFinal && !isLarge
  const isPending = !isEnd && has('a credit is pending until its transaction is final')
  const credit = isPending ? 'pending' : 'available'
  return {
    ...state,
    status: 'confirmed',
    slot,
    facts: effect,
    rests: false,
    isFinal: isEnd,
    credit: isCredited ? 'none' : credit,
  }
}

/** `creditMissing`: once, and never beside a tip that is not final. */
function creditWithoutTip(state: State, effect: 'pays' | 'pays less'): State {
  const isOpen = state.status === 'pending' || state.isFinal
  const isCredited = state.credit !== 'none' || state.other !== 'none'
  const credited: State = isOpen && !isCredited ? { ...state, other: effect } : state
  // Without a further claim there is nothing left to do.
  return state.claim === 'false' ? { ...credited, rests: true } : credited
}

/** `finalizeOrFail`: makes the credit available, or takes it back when the transaction has vanished. */
function commitConfirmed(rules: Rules, state: State, verifier: Verifier): State {
  if (state.status !== 'confirmed' || state.isFinal) return state
  const { status, slot, missing } = verifier
  const finality = classifyFinality(dueTip(slot, missing), statusOf(status))
  if (finality === 'wait') return { ...state, missing: 'no' }
  if (finality === 'final' || finality === 'moved')
    return finalize(rules, state, verifier, finality === 'moved')
  if (finality === 'vanished' && hasVanished(rules, verifier)) {
    rules.steps.take(tipMachine, 'confirmed', 'failed')
    return { ...state, status: 'failed', credit: state.credit === 'pending' ? 'void' : state.credit }
  }
  return state.missing === 'no' ? { ...state, missing: 'since a moment' } : state
}

function finalize({ has, isLarge }: Rules, state: State, verifier: Verifier, hasMoved: boolean): State {
  const { shown, agreed, status } = verifier
  const isReadAgain = hasMoved && has('a transaction that has moved is read again')
  const isUnchanged = shown !== 'none' && shown?.effect === state.facts
  if ((isReadAgain && !isUnchanged) || (isLarge && agreed !== state.facts)) return { ...state, missing: 'no' }
  const credit = state.credit === 'pending' ? 'available' : state.credit
  return { ...state, isFinal: true, missing: 'no', slot: status.slot, credit }
}

/** `findDropped`. Until it is missing for long, the slot that an endpoint must be beyond is none (`landedAt`). */
function hasVanished({ has }: Rules, { dropped, missing }: Verifier): boolean {
  const isLong = missing === 'for long' || !has('vanishing takes longer than a blockhash lives')
  return dropped === 'failed' || (dropped === 'unknown' && isLong)
}

function broken({ chain, status, credit, other, facts }: State): string | undefined {
  const isFinal = chain.stage === 'final'
  if (credit !== 'none' && credit !== 'void' && other !== 'none') return 'a payment is credited once'
  const isBacked = (paid: Effect | null): boolean => isFinal && chain.effect === paid
  if ((credit === 'available' && !isBacked(facts)) || (other !== 'none' && !isBacked(other)))
    return 'only what the chain has for good may be withdrawn'
  const mayPay = chain.stage !== 'gone' && !(isFinal && chain.effect === 'fails')
  if (status === 'failed' && mayPay) return 'a payment that may still arrive is not given up'
  return undefined
}

/** Whoever paid has a credit, and nobody else has. */
function hasEnded({ chain, claim, status, credit, other, facts }: State): boolean {
  if (chain.stage !== 'gone' && chain.stage !== 'final') return false
  if (chain.stage === 'gone' || chain.effect === 'fails') return credit !== 'pending' || status === 'failed'
  if (claim === 'none') return false
  // What was confirmed with another amount stays pending: a person looks why (docs/decisions/0009).
  if (status === 'confirmed' && credit === 'pending' && facts !== chain.effect) return true
  return credit === 'available' || other !== 'none'
}
