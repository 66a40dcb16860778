import type { Transfer } from '../records.js'

/** Gives accepted transfers the outcome they have by themselves, when its time has come. */
export class TransferClock {
  readonly #timers = new Map<number, NodeJS.Timeout>()
  readonly #settle: (transfer: Transfer) => void

  constructor(settle: (transfer: Transfer) => void) {
    this.#settle = settle
  }

  /** Nothing for a transfer that has its outcome, or is to have none by itself. */
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
