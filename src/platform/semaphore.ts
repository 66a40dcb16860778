import { Overloaded } from './database/group-commit.js'

export interface SemaphoreOptions {
  /** Pieces of work at once. */
  readonly running: number
  /** Callers that may wait; one more is refused at once with Overloaded. */
  readonly waiting: number
}

/** Runs at most so many pieces of work at once, the others in the order they came. */
export function createSemaphore({
  running,
  waiting,
}: SemaphoreOptions): <T>(work: () => Promise<T>) => Promise<T> {
  const queue: (() => void)[] = []
  let busy = 0

  async function enter(): Promise<void> {
    if (busy < running) {
      busy += 1
      return
    }
    if (queue.length >= waiting) throw new Overloaded(`${waiting} are waiting`)
    await new Promise<void>((start) => queue.push(start))
  }
  /** The place goes straight to the next in line, so nobody who comes meanwhile can take it. */
  function leave(): void {
    const next = queue.shift()
    if (next === undefined) busy -= 1
    else next()
  }
  return async (work) => {
    await enter()
    try {
      return await work()
    } finally {
      leave()
    }
  }
}
