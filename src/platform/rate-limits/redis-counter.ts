import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible'
import type { RedisClient } from '../redis/clients.js'
import { type Count, MemoryCounter } from './memory-counter.js'

/** After a failure Redis is left alone so long: its 250 ms are waited for once, not by every request. */
const pauseMs = 1000

export interface RedisCounterOptions {
  readonly keyPrefix: string
  readonly seconds: number
  /** Hits above which a key is refused; counting further is then pointless. */
  readonly most: number
}

/**
 * Counts hits per key in Redis, for all processes together. The process counts along: what it has seen itself is
 * enough to refuse a flood without a call, and holds alone while Redis is away or does not answer (no key is
 * ever unlimited). Never throws.
 */
export function createRedisCounter(
  redis: RedisClient,
  { keyPrefix, seconds, most }: RedisCounterOptions,
): (key: string) => Promise<Count> {
  const own = new MemoryCounter(seconds)
  const shared = new RateLimiterRedis({
    storeClient: redis,
    keyPrefix,
    points: most,
    duration: seconds,
  })
  let pausedUntil = 0
  return async (key) => {
    const seen = own.hit(key)
    if (seen.hits > most || redis.status !== 'ready' || performance.now() < pausedUntil) return seen
    try {
      return countOf(await shared.consume(key))
    } catch (refused) {
      if (refused instanceof RateLimiterRes) return countOf(refused)
      pausedUntil = performance.now() + pauseMs
      return seen
    }
  }
}

function countOf({ consumedPoints, msBeforeNext }: RateLimiterRes): Count {
  return { hits: consumedPoints, msLeft: msBeforeNext }
}
