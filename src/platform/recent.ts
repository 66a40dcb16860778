/** A value and when it was noted, on the process's steady clock. */
interface Noted<Value> {
  readonly value: Value
  readonly atMs: number
}

/** What was noted in the last `keepMs`, at most `most` entries: the least recently noted is forgotten first. */
export class Recent<Value> {
  readonly #entries = new Map<string, Noted<Value>>()
  readonly #keepMs: number
  readonly #most: number

  constructor({ keepMs, most }: { keepMs: number; most: number }) {
    this.#keepMs = keepMs
    this.#most = most
  }

  get(key: string): { readonly value: Value } | undefined {
    const noted = this.#entries.get(key)
    return noted !== undefined && performance.now() - noted.atMs < this.#keepMs ? noted : undefined
  }

  note(key: string, value: Value): void {
    // Taken out first, so that the map's order is the order of noting.
    this.#entries.delete(key)
    this.#entries.set(key, { value, atMs: performance.now() })
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#most) break
      this.#entries.delete(oldest)
    }
  }
}
