/** What one batch of due rows did. */
export interface BatchReport {
  /** Rows taken. Zero ends the round. */
  readonly taken: number
  /** Milliseconds until the next row is due, when the batch knows. */
  readonly nextDueMs?: number
}

export type Batch = () => Promise<BatchReport>

export interface BatchLoop {
  /** Asks for a batch now; the promise ends with the round that serves it. */
  wake(): Promise<void>
  /** The end of what runs now; undefined when nothing does. */
  readonly running: Promise<void> | undefined
  /** Takes nothing new and waits for the running batch. */
  stop(): Promise<void>
}

/** A worker looks at least this often, whether or not anybody woke it: wake-ups may all be lost. */
const ownRhythmMs = 2000
/** After a failed round (database away) the next look waits this long instead of spinning. */
const pauseAfterErrorMs = 500

/**
 * The one loop every worker runs: batch until nothing is due, one batch at a time; a wake during a batch means
 * one more. Sleeps until the next row is due, at most two seconds.
 */
export function createBatchLoop(batch: Batch, onError: (error: unknown) => void): BatchLoop {
  let running: Promise<void> | undefined
  let again = false
  let stopped = false
  let timer: NodeJS.Timeout | undefined

  async function round(): Promise<number> {
    let nextDueMs = ownRhythmMs
    do {
      again = false
      for (let taken = -1; taken !== 0 && !stopped; ) {
        const report = await batch()
        taken = report.taken
        nextDueMs = Math.min(nextDueMs, report.nextDueMs ?? ownRhythmMs)
      }
    } while (again && !stopped)
    return nextDueMs
  }
  function wake(): Promise<void> {
    again = true
    if (stopped) return Promise.resolve()
    clearTimeout(timer)
    running ??= round()
      .catch((error: unknown) => {
        onError(error)
        return pauseAfterErrorMs
      })
      .then((ms) => {
        running = undefined
        // A wake that came after the last look of this round must not wait for the timer.
        if (again) return wake()
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
 * Several loops over the same rows, for batches that wait for somebody outside: one that hangs there holds up its own rows
 * and nobody else's. A wake wakes a loop that is free, or else has each look once more: the first to end serves it.
 */
export function createConcurrentLoops(count: number, createLoop: () => BatchLoop): BatchLoop {
  const lanes = Array.from({ length: count }, createLoop)
  return {
    wake() {
      const free = lanes.find(({ running }) => running === undefined)
      return free === undefined ? Promise.race(lanes.map((lane) => lane.wake())) : free.wake()
    },
    get running() {
      const rounds = lanes.flatMap(({ running }) => running ?? [])
      return rounds.length === 0 ? undefined : Promise.all(rounds).then(() => undefined)
    },
    async stop() {
      await Promise.all(lanes.map((lane) => lane.stop()))
    },
  }
}
