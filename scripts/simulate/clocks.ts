import type { AsyncLocalStorage } from 'node:async_hooks'
import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import timers from 'node:timers/promises'
import { seededNumber } from '../sandbox/fiatpay/seeded-choice.js'

/** What runs inside has the time and the random numbers of the run. */
export interface Inside {
  /** Ends when so much of the run's time is over. */
  sleep(ms: number): Promise<void>
}

/** The time of a run in ms since the epoch. It stands still unless the run moves it. */
export class Clock {
  now = Date.UTC(2027, 0, 1)
}

/**
 * Replaces the clocks, waits and random numbers of this process by those of a run. Returns what undoes it. Code of the product keeps
 * its imports: `node:timers/promises` and `node:crypto` are bound again. Outside of `inside` waits and random bytes are real.
 */
export function replaceClocks(
  clock: Clock,
  seed: number,
  inside: AsyncLocalStorage<Inside | undefined>,
): () => void {
  const real = { Date, now: performance.now, sleep: timers.setTimeout, random: Math.random }
  const { randomBytes, randomUUID } = crypto
  const started = clock.now
  let drawn = 0
  const draw = (): number => seededNumber(seed, 'random', ++drawn)
  const bytes = (size: number): Buffer =>
    Buffer.from(Array.from({ length: size }, () => Math.floor(draw() * 256)))

  globalThis.Date = class extends real.Date {
    constructor(...given: unknown[]) {
      if (given.length === 0) super(clock.now)
      else super(...(given as [number]))
    }
    static override now(): number {
      return clock.now
    }
  } as DateConstructor
  performance.now = () => clock.now - started
  Math.random = () => (inside.getStore() === undefined ? real.random() : draw())
  timers.setTimeout = ((ms = 0, value?: unknown, options?: object) =>
    inside
      .getStore()
      ?.sleep(ms)
      .then(() => value) ?? real.sleep(ms, value, options)) as typeof timers.setTimeout
  crypto.randomBytes = ((size: number, callback?: (error: null, bytes: Buffer) => void) => {
    if (inside.getStore() === undefined) return randomBytes(size, callback as never)
    return callback === undefined ? bytes(size) : callback(null, bytes(size))
  }) as typeof crypto.randomBytes
  crypto.randomUUID = ((options?: crypto.RandomUUIDOptions) => {
    if (inside.getStore() === undefined) return randomUUID(options)
    const hex = bytes(16).toString('hex')
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`
  }) as typeof crypto.randomUUID
  syncBuiltinESMExports()
  return () => {
    globalThis.Date = real.Date
    performance.now = real.now
    Math.random = real.random
    timers.setTimeout = real.sleep
    Object.assign(crypto, { randomBytes, randomUUID })
    syncBuiltinESMExports()
  }
}
