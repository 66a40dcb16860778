import type { Knex } from 'knex'

/** The queue for a connection of a pool. */
export interface PoolQueue {
  /** How long who joins it now has to wait, in ms, by what the last callers needed. */
  expectedWaitMs(): number
}

/** What this file uses of tarn, knex's pool. */
interface Tarn {
  on(event: 'acquireRequest' | 'acquireFail', handler: (id: number) => void): void
  on(event: 'acquireSuccess', handler: (id: number, connection: object) => void): void
  on(event: 'release', handler: (connection: object) => void): void
}

/** The share of the newest use in the mean: a pause of the process must not pass for slow statements. */
const newestShare = 0.02
const tickMs = 100

/** Watches a pool of knex with `max` connections, until `stop`. */
export function watchPool(db: Knex, max: number): PoolQueue & { stop(): void } {
  const pool: Tarn = db.client.pool
  const waitingSince = new Map<number, number>()
  const usedSince = new WeakMap<object, number>()
  let meanUseMs = 0
  // Turns of the event loop, not time: while the process was paused, nobody could be served. Counted while somebody waits.
  let ticks = 0
  let timer: NodeJS.Timeout | undefined
  const stop = (): void => {
    clearInterval(timer)
    timer = undefined
  }
  const tick = (): void => {
    ticks += 1
    if (waitingSince.size === 0) stop()
  }
  pool.on('acquireRequest', (id) => {
    waitingSince.set(id, ticks)
    timer ??= setInterval(tick, tickMs).unref()
  })
  pool.on('acquireFail', (id) => waitingSince.delete(id))
  pool.on('acquireSuccess', (id, connection) => {
    waitingSince.delete(id)
    usedSince.set(connection, performance.now())
  })
  pool.on('release', (connection) => {
    const usedMs = performance.now() - (usedSince.get(connection) ?? performance.now())
    meanUseMs += (usedMs - meanUseMs) * newestShare
  })
  return {
    expectedWaitMs() {
      // The first one has waited the longest. With a pool that gives nothing back, that is all there is to know.
      const [first] = waitingSince.values()
      const oldestMs = first === undefined ? 0 : (ticks - first) * tickMs
      return Math.max(oldestMs, (waitingSince.size * meanUseMs) / max)
    },
    stop,
  }
}
