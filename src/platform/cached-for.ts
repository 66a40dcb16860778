/** Calls within `ms` share one read. A failed read is not kept. */
export function cachedFor<T>(ms: number, read: () => Promise<T>): () => Promise<T> {
  let current: Promise<T> | undefined
  let until = 0
  return () => {
    if (current !== undefined && performance.now() < until) return current
    until = performance.now() + ms
    const started = read()
    current = started
    started.catch(() => {
      if (current === started) current = undefined
    })
    return started
  }
}
