import type { ProbedPool } from './database/pool-watch.js'
import { singleFlight } from './single-flight.js'

/** `degraded`: without Redis nothing is lost, but work is done later. */
export type Readiness = 'ok' | 'degraded' | 'unavailable'

export interface ReadinessProbes {
  /** Asks PostgreSQL on a connection that nothing else can take. */
  readonly database: () => PromiseLike<unknown>
  readonly redis: () => PromiseLike<unknown>
  readonly pools: readonly ProbedPool[]
}

/** A probe without an answer after this time has failed, so that a router always gets its answer. */
const probeMs = 2000
/** A process that was ready is taken out after so many failures in a row: a single one is no reason to send everybody elsewhere. */
const failuresMost = 3
/** However many ask, failures within this time count as one. */
const failureMs = 1000

/**
 * Whether a process can serve. Concurrent callers share one look. A pool with a free connection is asked on it; one that is
 * fully used works as long as it hands connections out, so that load alone never makes a process unready. Only tests pass
 * another clock.
 */
export function createReadiness(
  { database, redis, pools }: ReadinessProbes,
  now: () => number = () => performance.now(),
): () => Promise<Readiness> {
  let failures = failuresMost
  let failedAt = Number.NEGATIVE_INFINITY
  const handedOut = pools.map((pool) => pool.handedOut())

  function works(pool: ProbedPool, index: number): Promise<boolean> {
    const before = handedOut[index]
    const since = pool.handedOut()
    handedOut[index] = since
    const probe = pool.probe()
    if (probe !== undefined) return succeedsInTime(probe)
    return Promise.resolve(!pool.isFull() || since !== before)
  }

  return singleFlight(async () => {
    const [redisAnswers, ...rest] = await Promise.all([
      succeedsInTime(redis()),
      succeedsInTime(database()),
      ...pools.map(works),
    ])
    if (rest.every(Boolean)) failures = 0
    else if (now() - failedAt >= failureMs) {
      failures += 1
      failedAt = now()
    }
    if (failures >= failuresMost) return 'unavailable'
    return redisAnswers ? 'ok' : 'degraded'
  })
}

function succeedsInTime(request: PromiseLike<unknown>): Promise<boolean> {
  return new Promise((answer) => {
    const timer = setTimeout(() => answer(false), probeMs)
    const end = (succeeded: boolean) => () => {
      clearTimeout(timer)
      answer(succeeded)
    }
    request.then(end(true), end(false))
  })
}
