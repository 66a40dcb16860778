/** Gives pending records their planned outcome when its time has come. The ids of all kinds of records differ. */
export class OutcomeTimers {
  readonly #timers = new Map<number, NodeJS.Timeout>()
  readonly #settle: (id: number) => void

  constructor(settle: (id: number) => void) {
    this.#settle = settle
  }

  /** Starts the timer of a record. `at`: ISO 8601; a past time is now. */
  start(id: number, at: string): void {
    const timer = setTimeout(
      () => {
        this.#timers.delete(id)
        this.#settle(id)
      },
      Math.max(0, Date.parse(at) - Date.now()),
    )
    this.#timers.set(id, timer)
  }

  stop(id: number): void {
    clearTimeout(this.#timers.get(id))
    this.#timers.delete(id)
  }

  stopAll(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer)
    this.#timers.clear()
  }
}
