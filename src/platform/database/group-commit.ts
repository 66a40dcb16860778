export interface GroupCommitOptions {
  /** Batches in flight at the same time. With two, one fills while the other commits. */
  readonly concurrency?: number
  /** Maximum number of items in one batch. */
  readonly batchSize?: number
  /** Maximum number of waiting items. One more is refused with Overloaded instead of waiting in a hopeless queue. */
  readonly maxWaiting?: number
  /** Errors that are not about any single item (database unavailable). Repeating the items one by one would not help. */
  readonly failsWholeBatch?: (error: unknown) => boolean
}

interface WaitingItem<Item, Result> {
  readonly item: Item
  resolve(result: Result): void
  reject(error: unknown): void
}

/** Thrown when too many callers are waiting. */
export class Overloaded extends Error {
  override name = 'Overloaded'
}

/**
 * Adaptive group commit (docs/decisions/0009): items that arrive while all batches are in flight share the next batch.
 * Without load an item does not wait; under load batches grow. Every caller gets the result of the own durable commit.
 * A batch that fails is repeated item by item, so that one bad item does not fail the others.
 */
export function groupCommit<Item, Result>(
  run: (items: Item[]) => Promise<Result[]>,
  {
    concurrency = 2,
    batchSize = 256,
    maxWaiting = 10_000,
    failsWholeBatch = () => false,
  }: GroupCommitOptions = {},
): (item: Item) => Promise<Result> {
  let waiting: WaitingItem<Item, Result>[] = []
  let inFlight = 0
  let scheduled = false

  function startBatches(): void {
    scheduled = false
    while (inFlight < concurrency && waiting.length > 0) {
      const batch = waiting.slice(0, batchSize)
      waiting = waiting.slice(batchSize)
      inFlight += 1
      void runBatch(batch, run, failsWholeBatch).finally(() => {
        inFlight -= 1
        startBatches()
      })
    }
  }
  return (item) =>
    new Promise((resolve, reject) => {
      if (waiting.length >= maxWaiting) return reject(new Overloaded(`${maxWaiting} are waiting`))
      waiting.push({ item, resolve, reject })
      if (scheduled) return
      scheduled = true
      // Requests parsed in the same turn of the event loop share a statement.
      setImmediate(startBatches)
    })
}

async function runBatch<Item, Result>(
  batch: WaitingItem<Item, Result>[],
  run: (items: Item[]) => Promise<Result[]>,
  failsWholeBatch: (error: unknown) => boolean,
): Promise<void> {
  try {
    const results = await run(batch.map(({ item }) => item))
    for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result)
  } catch (error) {
    if (batch.length === 1 || failsWholeBatch(error)) for (const { reject } of batch) reject(error)
    else for (const one of batch) await runBatch([one], run, failsWholeBatch)
  }
}
