import { shiftedDate } from '../../scripts/faults/servers/shifted-date.js'

const real = performance.now.bind(performance)
let aheadMs = 0

/**
 * Moves the monotonic clock of this process forward, so that cached values expire. It cannot be moved back. Use it only
 * in a file whose tests are serial.
 */
export function advanceMonotonicClock(ms: number): void {
  aheadMs += ms
  performance.now = () => real() + aheadMs
}

/** Runs something while the wall clock of this process is wrong by `ms`. Use it only in a file whose tests are serial. */
export async function withWallClock<Result>(ms: number, run: () => Promise<Result>): Promise<Result> {
  const before = globalThis.Date
  globalThis.Date = shiftedDate(before, () => ms)
  try {
    return await run()
  } finally {
    globalThis.Date = before
  }
}
