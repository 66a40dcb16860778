/** What the RPC node was asked: tests state how many calls a piece of work may cost. */
export class CallCounter {
  /** HTTP requests to the JSON-RPC endpoint; a batch is one. */
  httpRequests = 0
  readonly #methods = new Map<string, number>()

  add(method: string): void {
    this.#methods.set(method, this.of(method) + 1)
  }

  /** Calls of one method since the last reset. */
  of(method: string): number {
    return this.#methods.get(method) ?? 0
  }

  /** Calls of every method, by name. */
  all(): Record<string, number> {
    return Object.fromEntries(this.#methods)
  }

  reset(): void {
    this.httpRequests = 0
    this.#methods.clear()
  }
}
