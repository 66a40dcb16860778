import { setTimeout as sleep } from 'node:timers/promises'
import { Draw } from '../acts/draw.js'
import { act } from '../month/acts.js'
import type { Stage } from '../month/stage.js'
import type { Truth } from '../month/truth.js'

const weights = { crypto: 35, repeat: 20, naira: 20, withdraw: 25 } as const
/** Nobody is in a hurry: the load is there to be disturbed, not to fill the machine. */
const pauseMs = 100

/** People who tip and withdraw, each doing one thing after the other, and who repeat what was not answered. */
export class SteadyLoad {
  done = 0
  readonly #running: readonly Promise<void>[]
  #stopped = false
  #failure: unknown

  constructor(stage: Stage, truth: Truth, seed: number, concurrency: number) {
    this.#running = Array.from({ length: concurrency }, (_, index) =>
      this.#run(stage, truth, seed + 1_000_003 * (index + 1)).catch((error) => {
        this.#failure ??= error
      }),
    )
  }

  throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure
  }

  /** Lets everybody finish what they are doing. */
  async stop(): Promise<void> {
    this.#stopped = true
    await Promise.all(this.#running)
    this.throwFailure()
  }

  async #run(stage: Stage, truth: Truth, seed: number): Promise<void> {
    for (let n = 0; !this.#stopped; n++) {
      const draw = new Draw(seed + n)
      await act(draw.kind(weights), { stage, truth, draw, day: 0 })
      this.done += 1
      await sleep(pauseMs * 2 * draw.next())
    }
  }
}
