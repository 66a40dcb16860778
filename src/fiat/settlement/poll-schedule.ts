/** When the provider is asked about an intent, in seconds from a moment at which these are known. */
export interface IntentAge {
  readonly sinceCreated: number
  /** Negative: it has expired so long ago. */
  readonly untilExpiry: number
  /** It is paid: only a second payment could still come. */
  readonly completed: boolean
}

const firstPause = 5
/** Before expiry somebody waits for the answer. */
const longestPauseOpen = 60
/** After it only late money is looked for; its webhook usually comes first. */
const firstPauseExpired = 60
const longestPauseExpired = 6 * 3600
/** A look right after expiry would find the payment of the last second under way. */
const graceSeconds = 5

/**
 * Seconds until the next look, null when the watch is over. A function of the age alone, so the number of looks of an
 * intent's life is bounded whatever happens in between: pauses grow by half from 5 s to a minute until it expires, then
 * double from a minute to six hours.
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
