/** What is to be done at the end, such as closing a server. */
export type Defer = (close: () => unknown) => void

/** Does some work, and then all that it has deferred, the newest first, also when something of it fails. Throws the first error. */
export async function withClosing<Result>(work: (defer: Defer) => Promise<Result>): Promise<Result> {
  const closing: (() => unknown)[] = []
  const failures: unknown[] = []
  const noted = (error: unknown): void => void failures.push(error)
  const result = await work((close) => closing.push(close)).catch(noted)
  for (const close of closing.reverse()) await Promise.resolve().then(close).catch(noted)
  if (failures.length > 0) throw failures[0]
  return result as Result
}
