export interface GroupCommitOptions {
  /** Batches in flight at once: two, so that one is filled while the other is committed. */
  readonly lanes?: number
  /** Items of one batch. */
  readonly most?: number
  /** Items that may wait; one more is refused at once, which beats a queue nobody will live to see the end of. */
  readonly queue?: number
  /** Errors that say nothing about any item: asking again, one by one, would only multiply the waiting. */
  readonly failsAll?: (error: unknown) => boolean
}

interface Waiting<Item, Result> {
  readonly item: Item
  resolve(result: Result): void
  reject(error: unknown): void
}

/** Thrown when more callers wait than may. */
export class Overloaded extends Error {
  override name = 'Overloaded'
}

/**
 * Adaptive group commit: whoever arrives while the lanes are busy shares the next batch. Idle, nobody waits;
 * busy, batches grow by themselves. Everybody gets the answer of their own durable commit, and a batch that
 * fails is repeated item by item, so that one bad item does not fail its neighbours.
 */
export function groupCommit<Item, Result>(
  run: (items: Item[]) => Promise<Result[]>,
  { lanes = 2, most = 256, queue = 10_000, failsAll = () => false }: GroupCommitOptions = {},
): (item: Item) => Promise<Result> {
  let waiting: Waiting<Item, Result>[] = []
  let busy = 0
  let scheduled = false

  function pump(): void {
    scheduled = false
    while (busy < lanes && waiting.length > 0) {
      const batch = waiting.slice(0, most)
      waiting = waiting.slice(most)
      busy += 1
      void settle(batch, run, failsAll).finally(() => {
        busy -= 1
        pump()
      })
    }
  }
  return (item) =>
    new Promise((resolve, reject) => {
      if (waiting.length >= queue) return reject(new Overloaded(`${queue} are waiting`))
      waiting.push({ item, resolve, reject })
      if (scheduled) return
      scheduled = true
      // Requests parsed in the same turn of the event loop share a statement.
      setImmediate(pump)
    })
}

async function settle<Item, Result>(
  batch: Waiting<Item, Result>[],
  run: (items: Item[]) => Promise<Result[]>,
  failsAll: (error: unknown) => boolean,
): Promise<void> {
  try {
    const results = await run(batch.map(({ item }) => item))
    for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result)
  } catch (error) {
    if (batch.length === 1 || failsAll(error)) for (const { reject } of batch) reject(error)
    else for (const one of batch) await settle([one], run, failsAll)
  }
}
