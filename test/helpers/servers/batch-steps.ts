import type { AtStep } from '../proxies/watch-steps.js'

/** A statement or request of a process, before it reaches the server or after the server has answered. */
export interface Step {
  readonly label: string
  readonly phase: 'before' | 'after'
}

/** A step and its number, from 1, among the equal steps of the batch. */
export interface NthStep extends Step {
  readonly nth: number
}

/** Numbers the steps of a batch. Batches with the same work have the same numbered steps. */
export function numberSteps(batch: readonly Step[]): NthStep[] {
  return batch.map((step, index) => ({ ...step, nth: batch.slice(0, index + 1).filter(sameAs(step)).length }))
}

function sameAs({ label, phase }: Step): (other: Step) => boolean {
  return (other) => other.label === label && other.phase === phase
}

/** Records the steps of each batch. A batch begins with the statement that takes due rows. */
export class BatchSteps {
  /** What each batch has done so far. */
  readonly batches: Step[][] = []
  /** True while a batch waits to begin. */
  waiting = false
  readonly #taking: string
  #gate = Promise.resolve()
  #openGate: () => void = () => undefined
  readonly #ending: string | undefined
  #killAt: { readonly step: NthStep; readonly kill: () => Promise<void> } | undefined

  /** `taking`: the label of the statement that takes due rows. `ending`: the label of the batch's last statement. */
  constructor(taking: string, ending?: string) {
    this.#taking = taking
    this.#ending = ending
  }

  /** Holds every batch at its beginning until `release`. */
  hold(): void {
    this.#gate = new Promise((done) => {
      this.#openGate = done
    })
  }
  release(): void {
    this.#openGate()
  }
  /** Calls `kill` at this step of a batch, or at the batch's end when it has no such step, and cuts the connection. */
  killAt(step: NthStep, kill: () => Promise<void>): void {
    this.#killAt = { step, kill }
  }
  readonly atStep: AtStep = async (label, phase) => {
    if (label === this.#taking && phase === 'before') {
      this.waiting = true
      await this.#gate
      this.waiting = false
      this.batches.push([])
    }
    const done = this.batches.at(-1) ?? []
    done.push({ label, phase })
    if (this.#killAt === undefined || !this.#isReached(this.#killAt.step, done)) return true
    const { kill } = this.#killAt
    this.#killAt = undefined
    await kill()
    return false
  }

  #isReached(wanted: NthStep, done: readonly Step[]): boolean {
    const here = done.at(-1)
    if (here?.label === this.#ending && here?.phase === 'after') return true
    return here !== undefined && sameAs(wanted)(here) && done.filter(sameAs(wanted)).length === wanted.nth
  }
}
