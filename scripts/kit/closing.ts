/** What is to be done at the end, such as closing a server. */
export type Defer = (close: () => unknown) => void

/** Does some work, and then what it has deferred, the newest first, also when it fails. */
export async function withClosing<Result>(work: (defer: Defer) => Promise<Result>): Promise<Result> {
  const closing: (() => unknown)[] = []
  try {
    return await work((close) => closing.push(close))
  } finally {
    for (const close of closing.reverse()) await close()
  }
}
