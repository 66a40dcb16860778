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
