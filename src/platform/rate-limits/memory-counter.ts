/** The hits of a key in its current window, and the time left in that window. */
export interface HitCount {
  readonly hits: number
  readonly msLeft: number
}

interface Entry {
  hits: number
  endsAt: number
}

/** At most about 20 MB, so that requests from many addresses cannot fill the memory. */
const defaultMaxKeys = 50_000

/**
 * Counts hits per key in process memory. A window begins with a key's first hit. Instead of a timer per key there are
 * two generations of entries: after a window, or when the new generation is full, it becomes the old one, and the
 * previous old one is dropped. A key that is hit moves to the new generation, so it is dropped early only after hits
 * of `maxKeys` other keys.
 */
export class MemoryCounter {
  readonly #windowMs: number
  readonly #maxKeys: number
  #newer = new Map<string, Entry>()
  #older = new Map<string, Entry>()
  #rotatesAt = 0

  constructor(seconds: number, maxKeys = defaultMaxKeys) {
    this.#windowMs = seconds * 1000
    this.#maxKeys = maxKeys
  }

  /** Entries of both generations: at most twice `maxKeys`. */
  get size(): number {
    return this.#newer.size + this.#older.size
  }

  /** Counts one hit. `now`: milliseconds of a monotonic clock. */
  hit(key: string, now = performance.now()): HitCount {
    if (now >= this.#rotatesAt || this.#newer.size >= this.#maxKeys) this.#rotate(now)
    const entry = this.#newer.get(key) ?? this.#moveToNewer(key)
    if (now >= entry.endsAt) {
      entry.hits = 0
      entry.endsAt = now + this.#windowMs
    }
    entry.hits += 1
    return { hits: entry.hits, msLeft: entry.endsAt - now }
  }

  /** Takes back one hit of a window that has not ended. */
  takeBack(key: string): void {
    const entry = this.#newer.get(key) ?? this.#older.get(key)
    if (entry !== undefined && entry.hits > 0) entry.hits -= 1
  }

  #moveToNewer(key: string): Entry {
    const entry = this.#older.get(key) ?? { hits: 0, endsAt: 0 }
    this.#newer.set(key, entry)
    return entry
  }

  #rotate(now: number): void {
    this.#older = this.#newer
    this.#newer = new Map()
    this.#rotatesAt = now + this.#windowMs
  }
}
