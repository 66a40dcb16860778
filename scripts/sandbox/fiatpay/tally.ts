const countedMax = 100_000

/** How often each name was seen. */
export class Tally {
  readonly #counts = new Map<string, number>()

  /** Counts one more. Returns how many there were before. */
  add(name: string): number {
    const before = this.#counts.get(name) ?? 0
    if (before > 0 || this.#counts.size < countedMax) this.#counts.set(name, before + 1)
    return before
  }

  all(): Record<string, number> {
    return Object.fromEntries(this.#counts)
  }

  reset(): void {
    this.#counts.clear()
  }
}
