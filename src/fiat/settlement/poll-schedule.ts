/** The age of an intent, in seconds. */
export interface IntentAge {
  readonly sinceCreated: number
  /** Negative after the expiry. */
  readonly untilExpiry: number
  /** The intent is paid: only a second payment could still come. */
  readonly completed: boolean
}

const firstPause = 5
/** Before expiry a payer waits for the answer. */
const longestPauseOpen = 60
/** After expiry only late money can come, and its webhook usually comes first. */
const firstPauseExpired = 60
const longestPauseExpired = 6 * 3600
/** Polls this long after expiry, so that a payment of the last second has arrived. */
const graceSeconds = 5

/**
 * Seconds until the next poll; null when polling ends. Depends only on the age, so the number of polls of an intent is bounded
 * whatever happens. Pauses are half the intent's age, from 5 s to a minute, until it expires; then they double from a minute
 * to six hours.
 */
export function nextPoll(
  { sinceCreated, untilExpiry, completed }: IntentAge,
  watchDays: number,
): number | null {
  const watchLeft = untilExpiry + watchDays * 86_400
  const sinceExpiry = -untilExpiry
  if (watchLeft <= 0) return null
  if (sinceExpiry < 0) {
    const atExpiry = untilExpiry + graceSeconds
    if (completed) return atExpiry
    return Math.min(clamp(sinceCreated / 2, firstPause, longestPauseOpen), atExpiry)
  }
  return clamp(sinceExpiry, firstPauseExpired, longestPauseExpired)
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), most)
}
