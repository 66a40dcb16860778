const real = performance.now.bind(performance)
let aheadMs = 0

/**
 * Moves the monotonic clock of this process ahead: what the service holds on to for so long is then old. Only
 * forwards, and only in a file whose tests are serial.
 */
export function moveClock(ms: number): void {
  aheadMs += ms
  performance.now = () => real() + aheadMs
}
