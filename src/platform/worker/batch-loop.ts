/** What one drain of due rows did. */
export interface DrainReport {
  /** Rows taken. Zero ends the round. */
  readonly taken: number
  /** Milliseconds until the next row is due, when the drain knows. */
  readonly nextDueMs?: number
}

export type Drain = () => Promise<DrainReport>

export interface DrainLoop {
  /** Asks for a drain now; the promise ends with the round that serves it. */
  poke(): Promise<void>
  /** The end of what runs now; undefined when nothing does. */
  readonly running: Promise<void> | undefined
  /** Takes nothing new and waits for the running drain. */
  stop(): Promise<void>
}

/** A worker looks at least this often, whether or not anybody woke it: wake-ups may all be lost. */
const ownRhythmMs = 2000
/** After a failed round (database away) the next look waits this long instead of spinning. */
const pauseAfterErrorMs = 500

/**
 * The one loop every worker runs: drain until nothing is due, one drain at a time; a poke during a drain means
 * one more. Sleeps until the next row is due, at most two seconds.
 */
export function createDrainLoop(drain: Drain, onError: (error: unknown) => void): DrainLoop {
  let running: Promise<void> | undefined
  let again = false
  let stopped = false
  let timer: NodeJS.Timeout | undefined

  async function round(): Promise<number> {
    let nextDueMs = ownRhythmMs
    do {
      again = false
      for (let taken = -1; taken !== 0 && !stopped; ) {
        const report = await drain()
        taken = report.taken
        nextDueMs = Math.min(nextDueMs, report.nextDueMs ?? ownRhythmMs)
      }
    } while (again && !stopped)
    return nextDueMs
  }
  function poke(): Promise<void> {
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
        // A poke that came after the last look of this round must not wait for the timer.
        if (again) return poke()
        if (!stopped) timer = setTimeout(() => void poke(), ms)
        return undefined
      })
    return running
  }
  return {
    poke,
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
 * Several loops over the same rows, for drains that wait for somebody outside: one that hangs there holds up its own rows
 * and nobody else's. A poke wakes a loop that is free, or else has each look once more: the first to end serves it.
 */
export function createDrainLanes(count: number, createLoop: () => DrainLoop): DrainLoop {
  const lanes = Array.from({ length: count }, createLoop)
  return {
    poke() {
      const free = lanes.find(({ running }) => running === undefined)
      return free === undefined ? Promise.race(lanes.map((lane) => lane.poke())) : free.poke()
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
