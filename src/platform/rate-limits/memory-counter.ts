/** Where a key stands: its hits in the current window, and how long that window still lasts. */
export interface Count {
  readonly hits: number
  readonly msLeft: number
}

interface Entry {
  hits: number
  endsAt: number
}

/** About 20 MB at the very most: a spray of addresses must not become a way to fill our memory. */
const defaultMostKeys = 50_000

/**
 * Counts hits per key in process memory, in windows that begin with a key's first hit. Two generations instead of
 * a timer per key: the young one becomes the old one after a window, or when it is full, and what was old is
 * forgotten whole. A key that is hit moves along, so only a spray of `mostKeys` others makes one forgotten early.
 */
export class MemoryCounter {
  readonly #windowMs: number
  readonly #mostKeys: number
  #young = new Map<string, Entry>()
  #old = new Map<string, Entry>()
  #turnsAt = 0

  constructor(seconds: number, mostKeys = defaultMostKeys) {
    this.#windowMs = seconds * 1000
    this.#mostKeys = mostKeys
  }

  /** Keys held now, both generations: at most twice `mostKeys`. */
  get size(): number {
    return this.#young.size + this.#old.size
  }

  /** Counts one hit. `now`: milliseconds of a clock that never goes back. */
  hit(key: string, now = performance.now()): Count {
    if (now >= this.#turnsAt || this.#young.size >= this.#mostKeys) this.#turn(now)
    const entry = this.#young.get(key) ?? this.#enter(key)
    if (now >= entry.endsAt) {
      entry.hits = 0
      entry.endsAt = now + this.#windowMs
    }
    entry.hits += 1
    return { hits: entry.hits, msLeft: entry.endsAt - now }
  }

  #enter(key: string): Entry {
    const entry = this.#old.get(key) ?? { hits: 0, endsAt: 0 }
    this.#young.set(key, entry)
    return entry
  }

  #turn(now: number): void {
    this.#old = this.#young
    this.#young = new Map()
    this.#turnsAt = now + this.#windowMs
  }
}
