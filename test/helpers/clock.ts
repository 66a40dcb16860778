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

/**
 * `Date` with a wall clock that is wrong by so many milliseconds. Timers and `performance.now()` are monotonic and stay as they are,
 * as when a real clock steps.
 */
export function shiftedDate(RealDate: DateConstructor, shiftMs: () => number): DateConstructor {
  const now = (): number => RealDate.now() + shiftMs()
  return new Proxy(RealDate, {
    construct: (target, args, newTarget) =>
      Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget) as object,
    apply: () => new RealDate(now()).toString(),
    get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
  })
}
