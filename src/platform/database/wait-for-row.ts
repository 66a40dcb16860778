import type { Notifications } from '../redis/notifications.js'

export interface WaitOptions {
  readonly notifications: Notifications
  /** The channel on which a change of the row is hinted. */
  readonly channel: string
  /** Gives up after this many ms. */
  readonly totalMs: number
}

/** Without a hint the row is read again this often: a lost hint costs half a second, not the answer. */
const lookAgainMs = 500

/**
 * Waits until `read` brings something: listens first, then reads, then reads again at each hint and every half
 * second. Undefined when the time is up.
 */
export async function waitForRow<T>(
  read: () => Promise<T | undefined>,
  options: WaitOptions,
): Promise<T | undefined> {
  const until = performance.now() + options.totalMs
  let wake: () => void = () => undefined
  const unlisten = options.notifications.listen(
    options.channel,
    () => wake(),
    () => wake(),
  )
  try {
    for (;;) {
      // Made before the read: a hint during the read is not slept through.
      const woken = new Promise<void>((done) => {
        wake = done
      })
      const found = await read()
      const leftMs = until - performance.now()
      if (found !== undefined || leftMs <= 0) return found
      await sleepOr(woken, Math.min(lookAgainMs, leftMs))
    }
  } finally {
    unlisten()
  }
}

async function sleepOr(woken: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  await Promise.race([
    woken,
    new Promise<void>((done) => {
      timer = setTimeout(done, ms)
    }),
  ])
  clearTimeout(timer)
}
