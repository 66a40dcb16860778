import { isWithin } from './token-price-guard.js'

/** A reading is not compared with an accepted rate older than this. */
export const jumpMemoryHours = 24

/** Why a reading of the feed is not used. */
export type RateFault = 'missing' | 'stale' | 'jump'

/** A reading to check. Values are naira per dollar in units of 10^-8. */
export interface RateReading {
  readonly value: bigint | undefined
  readonly ageSeconds: number
  /** The last accepted value, if it is less than a day old. */
  readonly accepted: bigint | undefined
}

/** The highest age of a reading, and of the last accepted rate while the feed is unavailable. */
export const maxRateAgeSeconds = 600

/**
 * Checks the newest reading (docs/decisions/0016). Only the newest reading counts: a feed that is wrong by a factor of 100,
 * has no rate, or repeats an old one must not price anything. An operator accepts a real jump with `accept-rate`.
 */
export function findRateFault(
  { value, ageSeconds, accepted }: RateReading,
  jumpPercent: number,
): RateFault | undefined {
  if (value === undefined) return 'missing'
  if (ageSeconds > maxRateAgeSeconds) return 'stale'
  return accepted === undefined || isWithin(accepted, value, jumpPercent) ? undefined : 'jump'
}
