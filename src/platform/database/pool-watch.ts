import type { Knex } from 'knex'
import type pg from 'pg'

/** A pool of connections, as readiness sees it. */
export interface ProbedPool {
  /** How many connections it has handed out so far. */
  handedOut(): number
  /** Asks the server on a free connection. Undefined: none is free, or none is open. It never waits for one and never opens one. */
  probe(): PromiseLike<unknown> | undefined
  /** Whether every connection is in use, so that callers have to wait. */
  isFull(): boolean
}

/** The queue for a connection of a pool. */
export interface PoolQueue {
  /** How long who joins it now has to wait, in ms, by what the last callers needed. */
  expectedWaitMs(): number
}

/** What this file uses of tarn, knex's pool. */
interface Tarn {
  numFree(): number
  numUsed(): number
  on(event: 'acquireRequest' | 'acquireFail', handler: (id: number) => void): void
  on(event: 'acquireSuccess', handler: (id: number, connection: object) => void): void
  on(event: 'release', handler: (connection: object) => void): void
}

/** The share of the newest use in the mean: a pause of the process must not pass for slow statements. */
const newestShare = 0.02
const tickMs = 100

/** Watches a pool of knex with `max` connections, until `stop`. */
export function watchPool(db: Knex, max: number): ProbedPool & PoolQueue & { stop(): void } {
  const pool: Tarn = db.client.pool
  const waitingSince = new Map<number, number>()
  const usedSince = new WeakMap<object, number>()
  let handedOut = 0
  let meanUseMs = 0
  // Turns of the event loop, not time: while the process was paused, nobody could be served.
  let ticks = 0
  const timer = setInterval(() => {
    ticks += 1
  }, tickMs).unref()
  pool.on('acquireRequest', (id) => waitingSince.set(id, ticks))
  pool.on('acquireFail', (id) => waitingSince.delete(id))
  pool.on('acquireSuccess', (id, connection) => {
    waitingSince.delete(id)
    usedSince.set(connection, performance.now())
    handedOut += 1
  })
  pool.on('release', (connection) => {
    const usedMs = performance.now() - (usedSince.get(connection) ?? performance.now())
    meanUseMs += (usedMs - meanUseMs) * newestShare
  })
  return {
    handedOut: () => handedOut,
    probe: () => (pool.numFree() > 0 ? db.raw('select 1') : undefined),
    isFull: () => pool.numUsed() >= max,
    expectedWaitMs() {
      // The first one has waited the longest. With a pool that gives nothing back, that is all there is to know.
      const [first] = waitingSince.values()
      const oldestMs = first === undefined ? 0 : (ticks - first) * tickMs
      return Math.max(oldestMs, (waitingSince.size * meanUseMs) / max)
    },
    stop: () => clearInterval(timer),
  }
}

/** Watches a pool of pg. */
export function watchHotPool(pool: pg.Pool): ProbedPool {
  let handedOut = 0
  pool.on('acquire', () => {
    handedOut += 1
  })
  return {
    handedOut: () => handedOut,
    probe: () => (pool.idleCount > 0 ? pool.query('select 1') : undefined),
    isFull: () => pool.totalCount >= pool.options.max && pool.idleCount === 0,
  }
}
