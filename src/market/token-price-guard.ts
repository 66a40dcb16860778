/** A price and the time of its reading on a monotonic clock. */
export interface TimedPrice {
  readonly price: bigint
  readonly atMs: number
}

/** The state of one token's price. A `suspect` reading jumped and waits for a second one that agrees. */
export interface PriceState {
  readonly accepted: TimedPrice | undefined
  readonly suspect: TimedPrice | undefined
}

/** A reading is not compared with an accepted price older than this. */
const jumpMemoryMs = 5 * 60_000
/** How much later than the first a second reading must be to confirm a jump. */
const confirmAfterMs = 15_000

export const noPrice: PriceState = { accepted: undefined, suspect: undefined }

/**
 * Checks a new reading (docs/decisions/0016). One answer that is wrong by a factor of 100 must not price a tip. A reading
 * more than `jumpPercent` away from a recent accepted price is used only after a second reading, at least 15 s later,
 * agrees with it. A price of zero is never accepted, because a tip without a price has no limits.
 */
export function checkPriceReading(state: PriceState, reading: TimedPrice, jumpPercent: number): PriceState {
  const { accepted, suspect } = state
  if (reading.price === 0n) return { accepted, suspect: reading }
  const agrees = (earlier: TimedPrice): boolean => isWithin(earlier.price, reading.price, jumpPercent)
  if (accepted === undefined || reading.atMs - accepted.atMs >= jumpMemoryMs || agrees(accepted))
    return { accepted: reading, suspect: undefined }
  if (suspect === undefined || !agrees(suspect)) return { accepted, suspect: reading }
  if (reading.atMs - suspect.atMs < confirmAfterMs) return state
  return { accepted: reading, suspect: undefined }
}

/** Whether `after` differs from `before` by at most `percent` of `before`. */
export function isWithin(before: bigint, after: bigint, percent: number): boolean {
  const distance = after > before ? after - before : before - after
  return distance * 100n <= before * BigInt(Math.round(percent))
}
