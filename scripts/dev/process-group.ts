import { type Program, SupervisedProcess } from './supervise.js'

/** Stopped layer by layer in this order, each with its own time limit in ms. */
const layers = { service: 22_000, support: 8_000, database: 20_000 } as const
export type Layer = keyof typeof layers

/** A program that ends this often while it starts is not going to start. */
const maxFailures = 3

/** The supervised processes of a stack, a test run or a benchmark. */
export class ProcessGroup {
  readonly #members: { readonly layer: Layer; readonly process: SupervisedProcess }[] = []
  readonly #print: (text: string) => void
  #stopping = false

  constructor(print: (text: string) => void) {
    this.#print = print
  }

  /** Does nothing once the group is being stopped. */
  start(layer: Layer, name: string, program: Program): void {
    if (this.#stopping) return
    this.#members.push({ layer, process: new SupervisedProcess(name, program, this.#print) })
  }

  /** False when a program keeps ending or the group is being stopped, so that waiting for it is useless. */
  get mayStillStart(): boolean {
    return !this.#stopping && this.#members.every(({ process }) => process.failures < maxFailures)
  }

  async stop(): Promise<void> {
    this.#stopping = true
    for (const [layer, limitMs] of Object.entries(layers)) {
      const members = this.#members.filter((member) => member.layer === layer)
      await Promise.all(members.map(({ process }) => process.stop(limitMs)))
    }
  }
}
