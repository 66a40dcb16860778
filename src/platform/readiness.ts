import { singleFlight } from './single-flight.js'
import { within } from './within.js'

/** `degraded`: without Redis nothing is lost, but work is done later. */
export type Readiness = 'ok' | 'degraded' | 'unavailable'

/** Both ask on a connection that nothing else can take, so that load alone never makes a process unready. */
interface ReadinessProbes {
  readonly database: () => PromiseLike<unknown>
  readonly redis: () => PromiseLike<unknown>
}

/** A probe without an answer after this time has failed, so that a router always gets its answer. */
const probeMs = 2000
/** A process that was ready is taken out after so many failures in a row: a single one is no reason to send everybody elsewhere. */
const failuresMost = 3
/** However many ask, failures within this time count as one. */
const failureMs = 1000

/** Whether a process can serve. Concurrent callers share one look. Only tests pass another clock. */
export function createReadiness(
  { database, redis }: ReadinessProbes,
  now: () => number = () => performance.now(),
): () => Promise<Readiness> {
  let failures = failuresMost
  let failedAt = Number.NEGATIVE_INFINITY
  return singleFlight(async () => {
    const [redisAnswers, databaseAnswers] = await Promise.all([
      succeedsInTime(redis()),
      succeedsInTime(database()),
    ])
    if (databaseAnswers) failures = 0
    else if (now() - failedAt >= failureMs) {
      failures += 1
      failedAt = now()
    }
    if (failures >= failuresMost) return 'unavailable'
    return redisAnswers ? 'ok' : 'degraded'
  })
}

async function succeedsInTime(request: PromiseLike<unknown>): Promise<boolean> {
  const answer = Promise.resolve(request).then(
    () => true,
    () => false,
  )
  return (await within(probeMs, answer)) === true
}
