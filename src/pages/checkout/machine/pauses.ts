/** Seconds before each status request of a crypto payment; the last value repeats. */
const chainPausesSeconds = [1, 1, 2, 3, 5]
const nairaSeconds = 5
const nairaLaterSeconds = 10
const nairaQuickMs = 5 * 60_000
/** Money may arrive after the intent has expired: polling continues for so long. */
const latePollingMs = 30 * 60_000

/** After so long the page says that a sent payment is slow. */
export const slowSentMs = 20_000

export function chainPauseMs(nth: number): number {
  return (chainPausesSeconds[nth] ?? chainPausesSeconds.at(-1) ?? 1) * 1000
}

export function nairaPauseMs(sinceMs: number): number {
  return (sinceMs < nairaQuickMs ? nairaSeconds : nairaLaterSeconds) * 1000
}

export function isStillPolled(expiredSinceMs: number): boolean {
  return expiredSinceMs < latePollingMs
}
