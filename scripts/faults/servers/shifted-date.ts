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
