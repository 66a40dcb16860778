const leastMs = 1000
const mostMs = 30_000

export interface Backoff {
  /** About 1 s, 2, 4 … 30 s, each half as much more or less: readers that were cut off together come back apart. */
  nextMs(): number
  /** It worked: the next wait is a short one again. */
  reset(): void
}

/** Waits between tries that fail. */
export function createBackoff(random: () => number = Math.random): Backoff {
  let tries = 0
  return {
    nextMs() {
      const ms = Math.min(leastMs * 2 ** tries, mostMs)
      tries += 1
      return ms * (0.5 + random())
    },
    reset() {
      tries = 0
    },
  }
}
