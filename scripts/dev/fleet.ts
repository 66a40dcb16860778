import { type Program, Supervised } from './supervise.js'

/** Stopped in this order, each with its time: what serves first, what it stands on last. */
const layers = { service: 22_000, support: 8_000, database: 20_000 } as const
export type Layer = keyof typeof layers

/** A program that failed this often while the stack starts will not start at all. */
const hopeless = 3

/** Everything one stack keeps running. */
export class Fleet {
  readonly #members: { readonly layer: Layer; readonly process: Supervised }[] = []
  readonly #say: (text: string) => void
  #stopping = false

  constructor(say: (text: string) => void) {
    this.#say = say
  }

  /** Nothing starts any more once the fleet is being stopped. */
  start(layer: Layer, name: string, program: Program): void {
    if (this.#stopping) return
    this.#members.push({ layer, process: new Supervised(name, program, this.#say) })
  }

  /** False when a program keeps ending, or the fleet is being stopped: waiting is of no use then. */
  get hopeful(): boolean {
    return !this.#stopping && this.#members.every(({ process }) => process.failures < hopeless)
  }

  async stop(): Promise<void> {
    this.#stopping = true
    for (const [layer, patienceMs] of Object.entries(layers)) {
      const members = this.#members.filter((member) => member.layer === layer)
      await Promise.all(members.map(({ process }) => process.stop(patienceMs)))
    }
  }
}
