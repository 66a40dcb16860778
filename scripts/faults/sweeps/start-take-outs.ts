import type { CustodyCreator, CustodyWorld } from './custody-world.js'
import { type Submitting, type Taker, takeOut } from './take-outs.js'

/** Take-outs that run while other things happen, one of each creator at a time. */
export class StartedTakeOuts {
  readonly #running = new Map<string, Promise<void>>()
  readonly #world: CustodyWorld
  readonly #onFailure: (error: unknown) => void

  constructor(world: CustodyWorld, onFailure: (error: unknown) => void) {
    this.#world = world
    this.#onFailure = onFailure
  }

  /** `choice`: a number from 0 to 1, which decides what the browser does with the complete transaction. */
  start({ userId, cookie, email, holder }: CustodyCreator, micro: bigint, choice: number): void {
    if (cookie === undefined || email === undefined || holder === undefined) return
    if (this.#running.has(userId) || micro <= 0n) return
    const taker: Taker = { userId, cookie, email, holder }
    const done = takeOut(this.#world.takeOuts, taker, micro, submittingBy(choice)).then(
      () => undefined,
      this.#onFailure,
    )
    this.#running.set(
      userId,
      done.finally(() => this.#running.delete(userId)),
    )
  }

  async allEnd(): Promise<void> {
    await Promise.all(this.#running.values())
  }
}

function submittingBy(choice: number): Submitting {
  if (choice < 0.15) return 'never'
  if (choice < 0.3) return 'late'
  return choice < 0.45 ? 'twice' : 'once'
}
