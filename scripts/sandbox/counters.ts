/** Counts calls to a stand-in by name. Tests assert how many calls an operation makes. */
export class CallCounter {
  /** HTTP requests; a batch of JSON-RPC calls is one. */
  httpRequests = 0
  readonly #counts = new Map<string, number>()

  add(name: string): number {
    const before = this.of(name)
    this.#counts.set(name, before + 1)
    return before
  }

  of(name: string): number {
    return this.#counts.get(name) ?? 0
  }

  all(): Record<string, number> {
    return Object.fromEntries(this.#counts)
  }

  reset(): void {
    this.httpRequests = 0
    this.#counts.clear()
  }
}
