import type { Config } from '../config/config.js'
import type { RedisClient } from '../redis/clients.js'
import { type HitCount, MemoryCounter } from './memory-counter.js'
import { createRedisCounter } from './redis-counter.js'

const minute = 60
const quarterHour = 15 * minute
const hour = 60 * minute

interface Rule {
  /** Length of the window. */
  readonly seconds: number
  /** Counted in Redis, for all processes together. Otherwise each process counts in memory, which is cheaper. */
  readonly shared: boolean
}

/** The limits. The number of hits is a setting of the same name (`RATE_*`); each endpoint names its limit. */
export const limitRules = {
  reads: { seconds: minute, shared: false },
  status: { seconds: minute, shared: false },
  tipsCreate: { seconds: minute, shared: false },
  intents: { seconds: minute, shared: true },
  apiKey: { seconds: minute, shared: true },
  sdkAddress: { seconds: minute, shared: false },
  sdkIntentReads: { seconds: minute, shared: true },
  pageSessions: { seconds: minute, shared: true },
  withdraw: { seconds: minute, shared: true },
  resolve: { seconds: hour, shared: true },
  resolveAddress: { seconds: hour, shared: true },
  airdrops: { seconds: hour, shared: true },
  register: { seconds: minute, shared: true },
  login: { seconds: quarterHour, shared: true },
  otpStart: { seconds: quarterHour, shared: true },
  signInAddress: { seconds: quarterHour, shared: true },
  failedCodes: { seconds: quarterHour, shared: true },
  webhooks: { seconds: minute, shared: false },
} as const satisfies Record<string, Rule>

export type LimitName = keyof typeof limitRules

export interface RateLimit {
  readonly name: LimitName
  /** Length of the window. */
  readonly seconds: number
  /** Hits that a key may have in one window. */
  readonly maxHits: number
  /** Counts a hit. Returns a promise only when the count is shared. */
  readonly hit: (key: string) => HitCount | Promise<HitCount>
  /** Takes back one hit. */
  readonly takeBack: (key: string) => Promise<void>
}

export interface RateLimits {
  /** Undefined when the limits are switched off. */
  of(name: LimitName): RateLimit | undefined
  /** Streams that one address may hold open on one process. */
  readonly openStreams: number
}

/** The limits of one process. `RATE_LIMIT_FACTOR` scales them all, 0 switches them off. */
export function createRateLimits(
  { limits, redis: { namespace } }: Pick<Config, 'limits' | 'redis'>,
  redis: RedisClient,
): RateLimits {
  const scaled = (count: number): number => Math.max(1, Math.round(count * limits.factor))
  function create(name: LimitName): RateLimit {
    const { seconds, shared } = limitRules[name]
    const maxHits = scaled(limits[name])
    const rule = { name, seconds, maxHits }
    if (shared)
      return { ...rule, ...createRedisCounter(redis, `${namespace}:limit:${name}`, seconds, maxHits) }
    const counter = new MemoryCounter(seconds)
    return { ...rule, hit: (key) => counter.hit(key), takeBack: async (key) => counter.takeBack(key) }
  }
  if (limits.factor === 0) return { of: () => undefined, openStreams: Number.POSITIVE_INFINITY }
  const all = Object.fromEntries(
    (Object.keys(limitRules) as LimitName[]).map((name) => [name, create(name)]),
  ) as Record<LimitName, RateLimit>
  return { of: (name) => all[name], openStreams: scaled(limits.streams) }
}
