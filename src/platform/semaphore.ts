import { Overloaded } from './database/group-commit.js'

export interface SemaphoreOptions {
  /** Calls that run at the same time. */
  readonly concurrency: number
  /** Calls that may wait. */
  readonly maxWaiting: number
}

interface Waiting {
  readonly start: () => void
  readonly refuse: (error: Overloaded) => void
}

/**
 * Limits how many calls run at the same time. Callers take turns by key, and calls of one key run in order of arrival.
 * When too many wait, the key with the most waiting calls loses its newest, which is refused with Overloaded.
 */
export function createSemaphore({
  concurrency,
  maxWaiting,
}: SemaphoreOptions): <T>(work: () => Promise<T>, key?: string) => Promise<T> {
  /** The first key is next. No queue is empty. */
  const queues = new Map<string, Waiting[]>()
  let waiting = 0
  let running = 0

  function makeRoom(key: string): void {
    let [longest, most] = [key, queues.get(key)?.length ?? 0]
    for (const [other, { length }] of queues) if (length > most) [longest, most] = [other, length]
    const overloaded = new Overloaded(`${maxWaiting} are waiting`)
    if (longest === key) throw overloaded
    const queue = queues.get(longest) ?? []
    queue.pop()?.refuse(overloaded)
    if (queue.length === 0) queues.delete(longest)
    waiting -= 1
  }
  async function acquire(key: string): Promise<void> {
    if (running < concurrency) {
      running += 1
      return
    }
    if (waiting >= maxWaiting) makeRoom(key)
    waiting += 1
    await new Promise<void>((start, refuse) => {
      const queue = queues.get(key)
      if (queue === undefined) queues.set(key, [{ start, refuse }])
      else queue.push({ start, refuse })
    })
  }
  /** Hands the permit to the next waiting call, so that a call that arrives meanwhile cannot take it. */
  function release(): void {
    const [first] = queues
    if (first === undefined) {
      running -= 1
      return
    }
    const [key, queue] = first
    queues.delete(key)
    const next = queue.shift()
    if (queue.length > 0) queues.set(key, queue)
    waiting -= 1
    next?.start()
  }
  return async (work, key = '') => {
    await acquire(key)
    try {
      return await work()
    } finally {
      release()
    }
  }
}
