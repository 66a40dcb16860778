/** Runs work of the same key one after the other, in order of arrival. Work of different keys runs in parallel. */
export type KeyedMutex = <T>(key: string, work: () => Promise<T>) => Promise<T>

/** Per process only. Use a database lock where correctness depends on it. */
export function createKeyedMutex(): KeyedMutex {
  const last = new Map<string, Promise<unknown>>()
  return async (key, work) => {
    const result = (last.get(key) ?? Promise.resolve()).then(work, work)
    last.set(key, result)
    try {
      return await result
    } finally {
      if (last.get(key) === result) last.delete(key)
    }
  }
}
