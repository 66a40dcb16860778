const countedMax = 100_000

/** How often each name was seen. Of too many names the later ones are not remembered. */
export class Tally {
  readonly #counts = new Map<string, number>()

  /** Counts one more. Returns how many there were before. */
  add(name: string): number {
    const before = this.of(name)
    if (before > 0 || this.#counts.size < countedMax) this.#counts.set(name, before + 1)
    return before
  }

  /** How often one name was seen since the last reset. */
  of(name: string): number {
    return this.#counts.get(name) ?? 0
  }

  all(): Record<string, number> {
    return Object.fromEntries(this.#counts)
  }

  reset(): void {
    this.#counts.clear()
  }
}
