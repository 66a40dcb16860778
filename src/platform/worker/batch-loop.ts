/** The result of one batch of due rows. */
export interface BatchReport {
  /** Rows taken. Zero means that nothing is due. */
  readonly taken: number
  /** Whether it took as many rows as a batch has, so that more may be due. Default: more may be due if it took any. */
  readonly full?: boolean
  /** Milliseconds until the next row is due, if known. */
  readonly nextDueMs?: number
}

/** Takes the longest due rows, works on them and returns. */
export interface Batch {
  (): Promise<BatchReport>
  /** Ends the work that goes on after a batch: begins no more of it, and waits for the rest. */
  stop?(): Promise<void>
}

/** One batch of several kinds of rows, one kind after the other. */
export function inTurn(batches: readonly Batch[]): Batch {
  return async () => {
    let taken = 0
    let full = false
    let nextDueMs = Number.POSITIVE_INFINITY
    for (const batch of batches) {
      const report = await batch()
      taken += report.taken
      full ||= mayHaveMore(report)
      nextDueMs = Math.min(nextDueMs, report.nextDueMs ?? nextDueMs)
    }
    return { taken, full, nextDueMs }
  }
}

function mayHaveMore({ taken, full = taken > 0 }: BatchReport): boolean {
  return full
}

export interface BatchLoop {
  /** Runs batches now, until nothing is due. Resolves when those batches have ended. */
  wake(): Promise<void>
  /** Resolves when the current batches have ended; undefined when none run. */
  readonly running: Promise<void> | undefined
  /** Takes no more rows and waits for the current batch. */
  stop(): Promise<void>
}

/** A worker runs a batch at least this often, since any wake-up may be lost. */
const pollMs = 2000
/** One of several loops that have nothing to do waits this long: the poll of their worker goes to one of them. */
const memberMs = 3_600_000
/** Pause after a failed batch (database unavailable), so that the loop does not spin. */
const pauseAfterErrorMs = 500

/**
 * The loop of every worker: runs batches, one at a time, until nothing is due, then sleeps until the next row is due,
 * at most `longestMs`. A wake-up during a batch causes one more batch.
 */
export function createBatchLoop(
  batch: Batch,
  onError: (error: unknown) => void,
  longestMs = pollMs,
): BatchLoop {
  let running: Promise<void> | undefined
  let wokenAgain = false
  let stopped = false
  let timer: NodeJS.Timeout | undefined

  async function runUntilNothingIsDue(): Promise<number> {
    let nextDueMs = longestMs
    do {
      wokenAgain = false
      for (let more = true; more && !stopped; ) {
        const report = await batch()
        more = mayHaveMore(report)
        nextDueMs = Math.min(nextDueMs, report.nextDueMs ?? longestMs)
      }
    } while (wokenAgain && !stopped)
    return nextDueMs
  }
  function wake(): Promise<void> {
    wokenAgain = true
    if (stopped) return Promise.resolve()
    clearTimeout(timer)
    running ??= runUntilNothingIsDue()
      .catch((error: unknown) => {
        onError(error)
        return pauseAfterErrorMs
      })
      .then((ms) => {
        running = undefined
        // A wake-up after the last batch must not wait for the timer.
        if (wokenAgain) return wake()
        if (!stopped) timer = setTimeout(() => void wake(), ms)
        return undefined
      })
    return running
  }
  return {
    wake,
    get running() {
      return running
    },
    async stop() {
      stopped = true
      clearTimeout(timer)
      await running
    },
  }
}

/**
 * Several loops over the same rows, for batches that call a provider: a call that hangs delays only the rows of its own
 * batch. A wake-up goes to an idle loop, and so does the poll. When all loops are busy, each runs one more batch after a wake-up,
 * and the first to end serves it.
 */
export function createConcurrentLoops(
  concurrency: number,
  createLoop: (longestMs: number) => BatchLoop,
): BatchLoop {
  const loops = Array.from({ length: concurrency }, () => createLoop(memberMs))
  const findIdle = () => loops.find(({ running }) => running === undefined)
  const poll = setInterval(() => void findIdle()?.wake(), pollMs)
  return {
    wake() {
      return findIdle()?.wake() ?? Promise.race(loops.map((loop) => loop.wake()))
    },
    get running() {
      const batches = loops.flatMap(({ running }) => running ?? [])
      return batches.length === 0 ? undefined : Promise.all(batches).then(() => undefined)
    },
    async stop() {
      clearInterval(poll)
      await Promise.all(loops.map((loop) => loop.stop()))
    },
  }
}
