import type { AtStep } from './steps.js'

/** A step of a process outside itself: before the server has it, or after it has answered. */
export interface Step {
  readonly label: string
  readonly phase: 'before' | 'after'
}

/** The steps of one drain, counted from the statement that takes due rows. */
export class DrainSteps {
  /** What each drain has done so far. */
  readonly drains: Step[][] = []
  /** True while a drain waits to begin. */
  waiting = false
  readonly #taking: string
  #gate = Promise.resolve()
  #openGate: () => void = () => undefined
  #killAt: { readonly index: number; readonly kill: () => Promise<void> } | undefined

  /** `taking`: the label of the statement that takes due rows, with which a drain begins. */
  constructor(taking: string) {
    this.#taking = taking
  }

  /** Lets no drain begin until `release`. */
  hold(): void {
    this.#gate = new Promise((done) => {
      this.#openGate = done
    })
  }
  release(): void {
    this.#openGate()
  }
  /** At this step of a drain, nothing passes any more. */
  killAt(index: number, kill: () => Promise<void>): void {
    this.#killAt = { index, kill }
  }
  readonly atStep: AtStep = async (label, phase) => {
    if (label === this.#taking && phase === 'before') {
      this.waiting = true
      await this.#gate
      this.waiting = false
      this.drains.push([])
    }
    const done = this.drains.at(-1) ?? []
    done.push({ label, phase })
    if (done.length - 1 !== this.#killAt?.index) return true
    const { kill } = this.#killAt
    this.#killAt = undefined
    await kill()
    return false
  }
}
