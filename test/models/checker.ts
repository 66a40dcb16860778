import { checkStep, type StateMachine, stepsBetween } from '../../src/kernel/state-machine.js'

// A model checker. A model says which acts can happen in a state, and which state each leads to. `explore` visits every state that
// any order of acts can reach, breadth first, so the first fault that it finds is told by one of the shortest stories.
//
// Quint 0.33, the obvious tool, was tried: its `verify` downloads a checker and needs Java, and its `run --backend=typescript`
// samples random stories, some hundred a second. A sample does not say that there are no other faults. This explores them all, and
// its models call the rules that run in production (such as `decide`) instead of copies.

export interface Act<State> {
  /** Who does what. */
  readonly text: string
  readonly to: State
  /**
   * It belongs to the work that goes on when faults stop: of workers, of an honest provider, of people who do their duty. Time
   * helps too.
   */
  readonly helps: boolean
}

export interface Model<State> {
  readonly start: State
  /** Throws `RuleBroken` when an act breaks a rule by itself. */
  acts(state: State): readonly Act<State>[]
  /** The rule that a state breaks. Undefined: none. */
  broken(state: State): string | undefined
  /** Nothing waits for anybody: no money is held, and what came out wrong is in front of a person. */
  hasEnded(state: State): boolean
}

export interface Exploration {
  /** How many states can be reached, and how many acts lead from one to another. */
  readonly states: number
  readonly acts: number
  /** The most acts that a shortest way to a state has. */
  readonly depth: number
  readonly fault: Fault | undefined
}

interface Fault {
  readonly rule: string
  /** The acts that lead there, in their order. */
  readonly story: readonly string[]
}

/** An act broke a rule. */
class RuleBroken extends Error {
  override name = 'RuleBroken'
}

export const neverEnds = 'everything ends once faults stop'

/** Visits every state. Stops at the first fault. Throws when there are more states than `limit`: then nothing was proven. */
export function explore<State>(model: Model<State>, limit = 1_500_000): Exploration {
  const seen = new Seen(model.start)
  for (let at = 0; at < seen.size; at++) {
    const state = seen.state<State>(at)
    try {
      const rule = model.broken(state)
      if (rule !== undefined) return seen.report({ rule, story: seen.storyOf(at) })
      for (const act of model.acts(state)) seen.add(at, act)
    } catch (error) {
      if (!(error instanceof RuleBroken)) throw error
      return seen.report({ rule: error.message, story: seen.storyOf(at) })
    }
    if (seen.size > limit) throw new Error(`there are more than ${limit} states`)
  }
  const stuck = findStuck(seen, (at) => model.hasEnded(seen.state<State>(at)))
  return seen.report(stuck === undefined ? undefined : { rule: neverEnds, story: seen.storyOf(stuck) })
}

/** The states that were reached, each with the act that first led to it. A state is kept as text, which is small and exact. */
class Seen {
  private readonly indexes = new Map<string, number>()
  private readonly texts: string[] = []
  private readonly cameFrom: number[] = []
  private readonly cameBy: string[] = []
  private readonly depths: number[] = []
  private acts = 0
  /** Of the acts that help, from where to where. */
  readonly helping: { readonly from: number[]; readonly to: number[] } = { from: [], to: [] }

  constructor(start: unknown) {
    this.indexOf(start, -1, '')
  }

  get size(): number {
    return this.texts.length
  }

  state<State>(at: number): State {
    return JSON.parse(this.texts[at] ?? '') as State
  }

  add(from: number, { to, text, helps }: Act<unknown>): void {
    const index = this.indexOf(to, from, text)
    if (index === from) return
    this.acts += 1
    if (!helps) return
    this.helping.from.push(from)
    this.helping.to.push(index)
  }

  private indexOf(state: unknown, from: number, by: string): number {
    const text = JSON.stringify(state)
    const known = this.indexes.get(text)
    if (known !== undefined) return known
    const index = this.texts.length
    this.indexes.set(text, index)
    this.texts.push(text)
    this.cameFrom.push(from)
    this.cameBy.push(by)
    this.depths.push((this.depths[from] ?? -1) + 1)
    return index
  }

  storyOf(index: number): string[] {
    const story: string[] = []
    for (let at = index; at > 0; at = this.cameFrom[at] ?? 0) story.push(this.cameBy[at] ?? '')
    return story.reverse()
  }

  report(fault: Fault | undefined): Exploration {
    return { states: this.size, acts: this.acts, depth: this.depths.at(-1) ?? 0, fault }
  }
}

/**
 * The first state from which helping acts alone lead to no end. Walks the helping acts backwards, from every state that has ended:
 * who is not met cannot end.
 */
function findStuck({ size, helping }: Seen, hasEnded: (at: number) => boolean): number | undefined {
  const sourcesOf = groupByTarget(size, helping)
  const ends = new Uint8Array(size)
  const met: number[] = []
  const meet = (at: number): void => {
    if (ends[at] === 1) return
    ends[at] = 1
    met.push(at)
  }
  for (let at = 0; at < size; at++) if (hasEnded(at)) meet(at)
  for (let next = met.pop(); next !== undefined; next = met.pop()) sourcesOf(next).forEach(meet)
  const stuck = ends.indexOf(0)
  return stuck === -1 ? undefined : stuck
}

/** From which states acts lead to each. Those of state s stand between first[s] and first[s + 1]. */
function groupByTarget(size: number, { from, to }: Seen['helping']): (target: number) => Uint32Array {
  const first = new Uint32Array(size + 2)
  for (const target of to) first[target + 2] = (first[target + 2] ?? 0) + 1
  for (let at = 2; at < first.length; at++) first[at] = (first[at] ?? 0) + (first[at - 1] ?? 0)
  const sources = new Uint32Array(from.length)
  for (const [edge, target] of to.entries()) {
    const place = first[target + 1] ?? 0
    sources[place] = from[edge] ?? 0
    first[target + 1] = place + 1
  }
  return (target) => sources.subarray(first[target], first[target + 1])
}

/** The steps that a model has taken through the tables of `lifecycle.ts`. A step that a table does not list breaks a rule. */
export class Steps {
  private readonly taken = new Map<string, Set<string>>()

  take<S extends string>(machine: StateMachine<S>, from: S, to: S): void {
    try {
      checkStep(machine, from, to)
    } catch (error) {
      throw new RuleBroken(error instanceof Error ? error.message : '')
    }
    if (from !== to) this.stepsOf(machine).add(`${from} > ${to}`)
  }

  /** The same for a walk through every state between. Without a way nothing is taken. */
  walk<S extends string>(machine: StateMachine<S>, from: S, to: S): void {
    for (const step of stepsBetween(machine.steps, from, to)) this.take(machine, step.from, step.to)
  }

  /** The steps of a table that were never taken. */
  missing<S extends string>(machine: StateMachine<S>): string[] {
    const taken = this.stepsOf(machine)
    return machine.steps.map(({ from, to }) => `${from} > ${to}`).filter((step) => !taken.has(step))
  }

  private stepsOf({ subject }: Pick<StateMachine<string>, 'subject'>): Set<string> {
    const steps = this.taken.get(subject) ?? new Set()
    this.taken.set(subject, steps)
    return steps
  }
}
