import type { Config } from '../platform/config/config.js'
import { rateDecimals } from '../ports/exchange-rates.js'
import { isWithin } from './token-price-guard.js'

/** A reading is not compared with accepted rates older than this. */
export const rateWindowHours = 24
/** The time in which a rate moves by at most RATE_JUMP_PERCENT. */
export const rateJumpMinutes = 10
/** How far the second feed may differ from the first, and how far a reading from a rate that an operator accepted. */
const agreementPercent = 3

/** Why a reading of the feed is not used. */
export type RateFault = 'missing' | 'stale' | 'jump' | 'window' | 'range' | 'second' | 'unconfirmed'

/** The accepted rates of the last 24 hours, or since an operator accepted one. Undefined: there is none. */
export interface RateWindow {
  /** The lowest and the highest that were in force in the last ten minutes. */
  readonly lowest: bigint | undefined
  readonly highest: bigint | undefined
  /** The median by the time for which each rate was in force. */
  readonly median: bigint | undefined
  /** The rate that an operator accepted last in this time. */
  readonly vouched: bigint | undefined
}

export const emptyWindow: RateWindow = {
  lowest: undefined,
  highest: undefined,
  median: undefined,
  vouched: undefined,
}

/** A usable reading of a feed, or what is wrong with it. Values are naira per dollar in units of 10^-8. */
interface TimedRate {
  readonly value: bigint | undefined
  readonly ageSeconds: number
}

export interface RateReading extends TimedRate {
  readonly window: RateWindow
  /** The reading of the second feed. Undefined: there is no second feed. */
  readonly second: TimedRate | 'unanswered' | undefined
}

export type RateLimits = Pick<Config['rates'], 'jumpPercent' | 'windowPercent' | 'minNgn' | 'maxNgn'>

/** The highest age of a reading, and of the last accepted rate while the feed is unavailable. */
export const maxRateAgeSeconds = 600

/**
 * Checks the newest reading (docs/decisions/0016). Only the newest reading counts: a feed that is wrong by a factor of
 * 100, has no rate, or repeats an old one must not price anything. The median of a day stops what moves in small steps. A
 * second feed that agrees vouches for a jump within the limit of the day, and an operator for any with `accept-rate`, which also
 * stands against the limits and the second feed for what stays near that rate.
 */
export function findRateFault(
  { value, ageSeconds, window, second }: RateReading,
  limits: RateLimits,
): RateFault | undefined {
  if (value === undefined) return 'missing'
  if (ageSeconds > maxRateAgeSeconds) return 'stale'
  const { lowest, highest, median, vouched } = window
  const isVouched = typeof second === 'object' && agrees(value, second)
  const most = isVouched ? Math.max(limits.jumpPercent, limits.windowPercent) : limits.jumpPercent
  const fits = (rate: bigint | undefined, percent: number): boolean =>
    rate === undefined || isWithin(rate, value, percent)
  if (!fits(lowest, most) || !fits(highest, most)) return 'jump'
  if (!fits(median, limits.windowPercent)) return 'window'
  if (vouched !== undefined && isWithin(vouched, value, agreementPercent)) return undefined
  if (!isInRange(value, limits)) return 'range'
  if (second === 'unanswered') return 'unconfirmed'
  return second === undefined || isVouched ? undefined : 'second'
}

function isInRange(value: bigint, { minNgn, maxNgn }: RateLimits): boolean {
  return (
    (minNgn === undefined || value >= unitsOf(minNgn)) && (maxNgn === undefined || value <= unitsOf(maxNgn))
  )
}

function unitsOf(naira: number): bigint {
  return BigInt(Math.round(naira * 10 ** rateDecimals))
}

function agrees(value: bigint, { value: other, ageSeconds }: TimedRate): boolean {
  return other !== undefined && ageSeconds <= maxRateAgeSeconds && isWithin(value, other, agreementPercent)
}
