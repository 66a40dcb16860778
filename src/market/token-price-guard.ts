/** A price as it was read; `atMs` on a monotonic clock. */
export interface Reading {
  readonly price: bigint
  readonly atMs: number
}

/** What is known of one token's price. A `suspect` reading jumped and waits for a second one that agrees. */
export interface PriceState {
  readonly accepted: Reading | undefined
  readonly suspect: Reading | undefined
}

/** A jump counts against a price younger than this; an older one says nothing about now. */
const memoryMs = 5 * 60_000
/** How much later a second reading must be to confirm a jump. */
const secondLookMs = 15_000

export const noPrice: PriceState = { accepted: undefined, suspect: undefined }

/**
 * Judges a new reading. A feed that is off by a hundred for one answer must not price a tip: a reading more than
 * `jumpPercent` away from a recent accepted one is held back until another one, 15 s later, agrees with it. A
 * price of nothing is never accepted: without a price a tip would have no limits.
 */
export function checkReading(state: PriceState, reading: Reading, jumpPercent: number): PriceState {
  const { accepted, suspect } = state
  if (reading.price === 0n) return { accepted, suspect: reading }
  const agrees = (earlier: Reading): boolean => isWithin(earlier.price, reading.price, jumpPercent)
  if (accepted === undefined || reading.atMs - accepted.atMs >= memoryMs || agrees(accepted))
    return { accepted: reading, suspect: undefined }
  if (suspect === undefined || !agrees(suspect)) return { accepted, suspect: reading }
  if (reading.atMs - suspect.atMs < secondLookMs) return state
  return { accepted: reading, suspect: undefined }
}

/** Whether a price is no further from one before than so many percent of that. */
export function isWithin(before: bigint, after: bigint, percent: number): boolean {
  const distance = after > before ? after - before : before - after
  return distance * 100n <= before * BigInt(Math.round(percent))
}
