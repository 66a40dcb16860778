import type { Transfer } from '../records.js'

/** Gives accepted transfers their planned outcome when its time has come. */
export class OutcomeTimers {
  readonly #timers = new Map<number, NodeJS.Timeout>()
  readonly #settle: (transfer: Transfer) => void

  constructor(settle: (transfer: Transfer) => void) {
    this.#settle = settle
  }

  /** Starts the timer of a transfer. Does nothing when it has an outcome or has no planned one. */
  start(transfer: Transfer): void {
    if (transfer.settles === null || transfer.status !== 'pending') return
    const timer = setTimeout(
      () => {
        this.#timers.delete(transfer.id)
        this.#settle(transfer)
      },
      Math.max(0, Date.parse(transfer.settles.at) - Date.now()),
    )
    this.#timers.set(transfer.id, timer)
  }

  stop({ id }: Transfer): void {
    clearTimeout(this.#timers.get(id))
    this.#timers.delete(id)
  }

  stopAll(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer)
    this.#timers.clear()
  }
}
