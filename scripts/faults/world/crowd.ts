import { setTimeout as sleep } from 'node:timers/promises'
import { Draw } from '../../kit/draw.js'
import { type ActName, act } from './acts.js'
import type { Stage } from './stage.js'
import type { Truth } from './truth.js'

interface CrowdPlan {
  readonly stage: Stage
  readonly truth: Truth
  readonly seed: number
  readonly day?: number
  /** People who do something at the same time. */
  readonly concurrency: number
  /** What the nth of them does. Undefined: all is done. */
  readonly next: (n: number, draw: Draw) => ActName | undefined
  /** About how long each waits between two acts. */
  readonly pauseMs?: number
}

/** People who do one thing after the other, several at the same time, until all is done or they are stopped. */
export class Crowd {
  done = 0
  /** When everybody has finished. Rejects with the first failure. */
  readonly ended: Promise<void>
  #begun = 0
  #stopped = false
  #abandoned = false
  #failure: unknown

  constructor(plan: CrowdPlan) {
    const people = Array.from({ length: plan.concurrency }, () => this.#run(plan))
    this.ended = Promise.all(people).then(() => undefined)
    // Whoever waits for something else asks `throwFailure`.
    this.ended.catch((error: unknown) => {
      this.#failure ??= error
      this.abandon()
    })
  }

  throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure
  }

  /** Lets everybody finish what they are doing. */
  async stop(): Promise<void> {
    this.#stopped = true
    await this.ended
  }

  /** Nobody repeats anything any more: what they wait for may be gone. */
  abandon(): void {
    this.#stopped = true
    this.#abandoned = true
  }

  async #run({ stage, truth, seed, day = 0, next, pauseMs = 0 }: CrowdPlan): Promise<void> {
    while (!this.#stopped) {
      stage.throwFailure()
      const n = this.#begun++
      const draw = new Draw(seed + n)
      const name = next(n, draw)
      if (name === undefined) return
      await act(name, { stage, truth, draw, day, giveUp: () => this.#abandoned })
      this.done += 1
      if (pauseMs > 0) await sleep(2 * pauseMs * draw.next())
    }
  }
}

/** So many of each in an order that the seed draws. */
export function mixed(counts: Readonly<Partial<Record<ActName, number>>>, seed: number): ActName[] {
  const draw = new Draw(seed)
  const names: ActName[] = []
  for (const [name, count] of Object.entries(counts))
    for (let n = 0; n < count; n++) names.splice(draw.whole(0, names.length), 0, name as ActName)
  return names
}
