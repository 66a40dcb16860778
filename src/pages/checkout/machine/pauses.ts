/** Seconds before each look at a payment on the chain: quick while it is likely, slower later. */
const chainRhythm = [1, 1, 2, 3, 5]
const nairaSeconds = 5
const nairaLaterSeconds = 10
const nairaQuickMs = 5 * 60_000
/** Money may arrive after the time is over: that long it is still looked for. */
const lateMs = 30 * 60_000

/** Ms after which a payment that was sent is called slow. */
export const slowSentMs = 20_000

/** Ms before the look number `nth` (from 0). */
export function chainPauseMs(nth: number): number {
  return (chainRhythm[nth] ?? chainRhythm.at(-1) ?? 1) * 1000
}

/** Ms before the next look at a naira payment so long after it was made. */
export function nairaPauseMs(sinceMs: number): number {
  return (sinceMs < nairaQuickMs ? nairaSeconds : nairaLaterSeconds) * 1000
}

/** Whether a naira payment whose time is over is still looked for. */
export function stillLooked(overSinceMs: number): boolean {
  return overSinceMs < lateMs
}
