import { Overloaded } from './database/group-commit.js'

export interface SemaphoreOptions {
  /** Calls that run at the same time. */
  readonly concurrency: number
  /** Calls that may wait. One more is refused with Overloaded. */
  readonly maxWaiting: number
}

/** Limits how many calls run at the same time. The others wait in order of arrival. */
export function createSemaphore({
  concurrency,
  maxWaiting,
}: SemaphoreOptions): <T>(work: () => Promise<T>) => Promise<T> {
  const queue: (() => void)[] = []
  let running = 0

  async function acquire(): Promise<void> {
    if (running < concurrency) {
      running += 1
      return
    }
    if (queue.length >= maxWaiting) throw new Overloaded(`${maxWaiting} are waiting`)
    await new Promise<void>((start) => queue.push(start))
  }
  /** Hands the permit to the next waiting call, so that a call that arrives meanwhile cannot take it. */
  function release(): void {
    const next = queue.shift()
    if (next === undefined) running -= 1
    else next()
  }
  return async (work) => {
    await acquire()
    try {
      return await work()
    } finally {
      release()
    }
  }
}
