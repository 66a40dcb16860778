import type { Act } from './checker.js'

// One crypto tip, from the claim that a caller makes to the credit that its creator may withdraw (docs/decisions/0006, 0009).
// The chain may fork: what has landed can vanish, and land again with another effect, until it is final. One of two RPC endpoints
// may lie about everything. What is assumed: the other endpoint only lags, and both never lie together.

export type Effect = 'pays' | 'pays less' | 'fails'

interface Chain {
  /** `air`: it may land. `gone`: it never will. */
  readonly stage: 'air' | 'confirmed' | 'final' | 'gone'
  /** A fork puts it into the next slot. */
  readonly slot: number
  readonly effect: Effect
  /** Its blockhash has expired: what vanishes now does not land again. */
  readonly expired: boolean
}

/** What an endpoint says of the signature. */
export interface Status {
  readonly commitment: 'none' | 'confirmed' | 'finalized'
  readonly failed: boolean
  readonly slot: number
}

export interface Shown {
  readonly slot: number
  readonly effect: Effect
}

/** A verifier that has taken the tip, with what it has been told so far. */
export interface Verifier {
  readonly taken: 'pending' | 'confirmed'
  /** What the row said when it was taken. */
  readonly slot: number
  readonly missing: State['missing']
  /** A claim says whom the transaction pays. A false one makes it no tip, and the money is credited all the same. */
  readonly claim: 'true' | 'false'
  readonly status: Status
  /** Null: not asked yet. `none`: the endpoint does not have it. */
  readonly shown: Shown | 'none' | null
  /** Every endpoint shows it final and paying this much. */
  readonly agreed: Effect | null
  /** Every endpoint says that it does not know it, far beyond its slot; or that it has failed for good. */
  readonly dropped: 'no' | 'unknown' | 'failed'
}

export interface State {
  readonly chain: Chain
  readonly status: 'pending' | 'confirmed' | 'failed'
  readonly claim: 'none' | 'true' | 'false'
  /** Nobody looks at it any more, until another claim comes. */
  readonly rests: boolean
  readonly slot: number
  /** What was recorded with the tip, and so what its credit is. */
  readonly facts: Effect | null
  readonly isFinal: boolean
  readonly missing: 'no' | 'since a moment' | 'for long'
  /** The credit of the tip, and the one of a transaction that was held for no tip. They have different keys in the ledger. */
  readonly credit: Credit
  readonly other: 'none' | 'pays' | 'pays less'
  readonly verifiers: readonly (Verifier | null)[]
  /** The second endpoint lies. */
  readonly liar: boolean
}

type Credit = 'none' | 'pending' | 'available' | 'void'

export type TipFix =
  | 'a credit is pending until its transaction is final'
  | 'a large credit waits for every endpoint'
  | 'a tip fails only when every endpoint has lost it'
  | 'a transaction that has moved is read again'
  | 'what was credited without a tip is not credited again'
  | 'vanishing takes longer than a blockhash lives'

export interface TipSetting {
  readonly verifiers: number
  readonly liar: boolean
  /** Above AGREE_ABOVE_USD. What is smaller is believed of one endpoint, so it is safe only without a liar. */
  readonly large: boolean
  readonly without?: TipFix
}

export const startOf = ({ verifiers, liar }: TipSetting): State => ({
  chain: { stage: 'air', slot: 0, effect: 'pays', expired: false },
  status: 'pending',
  claim: 'none',
  rests: false,
  slot: 0,
  facts: null,
  isFinal: false,
  missing: 'no',
  credit: 'none',
  other: 'none',
  verifiers: Array.from({ length: verifiers }, () => null),
  liar,
})

/** The network: what has landed can vanish until it is final. */
export function chainActs(has: (fix: TipFix) => boolean, state: State): Act<State>[] {
  const { chain, missing, liar } = state
  const acts: Act<State>[] = []
  const act = (text: string, change: Partial<State>, helps = true): void => {
    acts.push({ text, to: { ...state, ...change }, helps })
  }
  const turn = (to: Partial<Chain>): Partial<State> => ({ chain: { ...chain, ...to } })
  if (chain.stage === 'air') {
    const slot = chain.slot + 1
    // With another block before it the same transaction may pay less, or fail.
    const effects: Effect[] = slot === 1 ? ['pays', 'fails'] : ['pays', 'pays less', 'fails']
    for (const effect of effects)
      act(`it lands in slot ${slot} and ${effect}`, turn({ stage: 'confirmed', slot, effect }))
    act('its blockhash expires', turn({ stage: 'gone' }))
  }
  if (chain.stage === 'confirmed') {
    act('its slot is final', turn({ stage: 'final' }))
    if (chain.expired) act('a fork drops it for ever', turn({ stage: 'gone' }), false)
    else if (chain.slot < 2) act('a fork drops it', turn({ stage: 'air' }), false)
  }
  // It was signed before anybody reported it, so after so long its blockhash has expired.
  const isLong = has('vanishing takes longer than a blockhash lives')
  if (missing === 'since a moment' && (chain.stage !== 'air' || !isLong))
    act('three minutes pass', { missing: 'for long', ...turn({ expired: isLong }) })
  if (liar) act('an operator takes the endpoint that lies out of the settings', { liar: false })
  return acts
}

export function callerActs(state: State): Act<State>[] {
  const { claim, status } = state
  const claimed = (next: 'true' | 'false'): Act<State> => ({
    text: `somebody reports the signature with a ${next} claim`,
    to: { ...state, claim: next, rests: false },
    helps: next === 'true' && claim === 'none',
  })
  if (claim === 'none') return [claimed('true'), claimed('false')]
  return claim === 'false' && status === 'pending' ? [claimed('true')] : []
}

/** What the honest endpoint says. It may lag one stage, or not know what has landed. */
export function honestStatuses({ stage, slot, effect }: Chain): Status[] {
  const none: Status = { commitment: 'none', failed: false, slot: 0 }
  const confirmed: Status = { commitment: 'confirmed', failed: effect === 'fails', slot }
  if (stage === 'confirmed') return [none, confirmed]
  return stage === 'final' ? [confirmed, { ...confirmed, commitment: 'finalized' }] : [none]
}

/** A slot of long ago, which nothing that lands now has. */
export const longAgo = 0

export const lies: readonly Status[] = [
  { commitment: 'none', failed: false, slot: 0 },
  ...[longAgo, 1, 2].flatMap((slot): Status[] => [
    { commitment: 'confirmed', failed: false, slot },
    { commitment: 'finalized', failed: false, slot },
    { commitment: 'finalized', failed: true, slot },
  ]),
]
