import type { Middleware } from 'koa'
import type { PoolQueue } from '../../platform/database/connections/pool-watch.js'
import { Overloaded } from '../../platform/database/group-commit.js'

/** Below the two seconds that a caller waits for a connection: who is let in gets one. */
const mostWaitMs = 1500

/**
 * Refuses requests with 503 while the queue for a connection of the database is too long, before they cost anything. A
 * queue that only grows would let every request wait until its time is over, and serve none.
 */
export function refuseWhileOverloaded(queue: PoolQueue): Middleware {
  return (_, next) => {
    if (queue.expectedWaitMs() > mostWaitMs) throw new Overloaded('too many wait for a connection')
    return next()
  }
}
