/** Waits this many ms. Rejects with the signal's reason as soon as it is aborted. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((done, reject) => {
    if (signal?.aborted === true) {
      reject(signal.reason)
      return
    }
    const onAbort = (): void => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort)
      done()
    }, ms)
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}

const leastMs = 1000
const mostMs = 30_000

export interface Backoff {
  /**
   * The next wait: about 1 s, 2 s, 4 s ... 30 s, each varied randomly by up to half. Readers that lost their connection
   * together so do not reconnect together.
   */
  nextMs(): number
  /** Starts again with a short wait. Call it after a success. */
  reset(): void
}

/** The waits between failed attempts. */
export function createBackoff(random: () => number = Math.random): Backoff {
  let failures = 0
  return {
    nextMs() {
      const ms = Math.min(leastMs * 2 ** failures, mostMs)
      failures += 1
      return ms * (0.5 + random())
    },
    reset() {
      failures = 0
    },
  }
}
