import { isWithin } from './token-price-guard.js'

/** A rate older than this says nothing about now: a jump from it is none. */
export const memoryHours = 24

/** What is wrong with a reading of the feed; undefined when it may be used. */
export type RateFault = 'missing' | 'stale' | 'jump'

/** A reading to be judged. Values in units of 10^-8 naira for a dollar. */
export interface CheckedReading {
  readonly value: bigint | undefined
  readonly ageSeconds: number
  /** The last accepted value, if it is under a day old. */
  readonly accepted: bigint | undefined
}

/** Also how long the last accepted rate serves when the feed cannot be reached. */
export const longestLifeSeconds = 600

/**
 * Judges the newest reading, which alone decides: a feed off by a hundred, without a rate or stuck in the past prices
 * nothing. A true jump is accepted by an operator (scripts/accept-rate).
 */
export function findRateFault(
  { value, ageSeconds, accepted }: CheckedReading,
  jumpPercent: number,
): RateFault | undefined {
  if (value === undefined) return 'missing'
  if (ageSeconds > longestLifeSeconds) return 'stale'
  return accepted === undefined || isWithin(accepted, value, jumpPercent) ? undefined : 'jump'
}
