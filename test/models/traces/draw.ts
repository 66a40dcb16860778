import type { Model } from '../checker.js'

/** One act of a trace. */
export interface TraceStep<State> {
  readonly text: string
  readonly from: State
  readonly to: State
}

/** What the traces of a run have met: acts by their texts, states by their keys, each with how often. */
export class Met {
  readonly acts = new Map<string, number>()
  readonly states = new Map<string, number>()
}

type Next = { readonly text: string; readonly key: string }

/** How often the next act is one that was never taken, or else leads to one of the states that were met least often. */
const curiosity = 0.8
/** How often a trace ends where nothing waits for anybody. */
const enough = 0.1

/** Acts of a model, one after the other, `length` at most. `keyOf`: equal for states that are as one. */
export function drawTrace<State>(
  model: Pick<Model<State>, 'start' | 'acts' | 'hasEnded'>,
  length: number,
  random: () => number,
  keyOf: (state: State) => string,
  { acts, states }: Met,
): TraceStep<State>[] {
  const trace: TraceStep<State>[] = []
  let from = model.start
  while (trace.length < length && !(trace.length > 0 && model.hasEnded(from) && random() < enough)) {
    const all = model.acts(from).map((act) => ({ ...act, key: keyOf(act.to) }))
    const metOf = ({ text, key }: Next): number => (acts.has(text) ? (states.get(key) ?? 0) : -1)
    const least = Math.min(...all.map(metOf))
    const among = random() < curiosity ? all.filter((act) => metOf(act) === least) : all
    const act = among[Math.floor(random() * among.length)]
    if (act === undefined) break
    acts.set(act.text, (acts.get(act.text) ?? 0) + 1)
    states.set(act.key, (states.get(act.key) ?? 0) + 1)
    trace.push({ text: act.text, from, to: act.to })
    from = act.to
  }
  return trace
}

export function tellTrace(trace: readonly TraceStep<unknown>[]): string {
  return trace.map(({ text }, index) => `${String(index + 1).padStart(3)}. ${text}`).join('\n')
}
