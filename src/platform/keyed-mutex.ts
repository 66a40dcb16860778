/** Runs work of the same key one after the other, in the order it came; work of different keys does not wait. */
export type KeyedMutex = <T>(key: string, work: () => Promise<T>) => Promise<T>

/** Turns of one process: whoever counts on them for more than fewer collisions needs a lock in the database. */
export function createKeyedMutex(): KeyedMutex {
  const last = new Map<string, Promise<unknown>>()
  return async (key, work) => {
    const turn = (last.get(key) ?? Promise.resolve()).then(work, work)
    last.set(key, turn)
    try {
      return await turn
    } finally {
      if (last.get(key) === turn) last.delete(key)
    }
  }
}
