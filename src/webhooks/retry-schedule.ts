const secondMs = 1000
const minuteMs = 60 * secondMs
const hourMs = 60 * minuteMs

/** The pauses before the second attempt and each later one. The last attempt comes after 75 hours. */
const pausesMs = [
  5 * secondMs,
  5 * minuteMs,
  30 * minuteMs,
  2 * hourMs,
  5 * hourMs,
  10 * hourMs,
  14 * hourMs,
  20 * hourMs,
  24 * hourMs,
] as const
/** Spreads the retries of what failed together. */
const jitter = 0.1
/** Asked for by `Retry-After`. */
const longestAskedMs = 24 * hourMs
const longestPauseMs = minuteMs

/** Until the next attempt of a delivery that has failed so many times; null: it was the last. */
export function retryInMs(tries: number, askedMs = 0, random = Math.random()): number | null {
  const pause = pausesMs[tries - 1]
  if (pause === undefined) return null
  return Math.max(pause * (1 + jitter * random), Math.min(askedMs, longestAskedMs))
}

/** How long an endpoint rests after so many pages in a row without a success: what hangs must not hold the slots of others. */
export function restMs(failures: number, askedMs = 0): number {
  return Math.max(Math.min(2 ** failures * secondMs, longestPauseMs), Math.min(askedMs, longestAskedMs))
}

/** `Retry-After` in ms: seconds or a date. Anything else asks for nothing. */
export function readRetryAfter(header: string | undefined, now: number): number {
  if (header === undefined) return 0
  const ms = /^\d+$/.test(header) ? Number(header) * secondMs : Date.parse(header) - now
  return Number.isFinite(ms) ? Math.max(0, ms) : 0
}
