import type { Notifications } from '../redis/notifications.js'
import { within } from '../within.js'

export interface WaitOptions {
  readonly notifications: Notifications
  /** The channel that announces changes of the row. */
  readonly channel: string
  /** Gives up after this many ms. */
  readonly totalMs: number
  /** A lost notification delays the result by at most this time. */
  readonly rereadMs?: number
  /** The caller has just read the row: it is read again once the channel is subscribed to. */
  readonly isRead?: boolean
  /** Ends the waiting. */
  readonly signal?: AbortSignal
}

const usualRereadMs = 500

/**
 * Waits until `read` returns something: subscribes first, then reads, then reads again after each notification and from time
 * to time. Undefined when the time is up.
 */
export async function waitForRow<T>(
  read: () => Promise<T | undefined>,
  options: WaitOptions,
): Promise<T | undefined> {
  const until = performance.now() + options.totalMs
  let wake: () => void = () => undefined
  let isListening = false
  const unlisten = options.notifications.listen(
    options.channel,
    () => wake(),
    () => {
      isListening = true
      wake()
    },
  )
  options.signal?.addEventListener('abort', () => wake(), { once: true })
  try {
    for (let isRead = options.isRead === true; ; isRead = false) {
      // Created before the read, so that a notification during the read is not missed.
      const woken = new Promise<void>((done) => {
        wake = done
      })
      const found = isRead && !isListening ? undefined : await read()
      const leftMs = until - performance.now()
      if (found !== undefined || leftMs <= 0 || options.signal?.aborted === true) return found
      await within(Math.min(options.rereadMs ?? usualRereadMs, leftMs), woken)
    }
  } finally {
    unlisten()
  }
}
