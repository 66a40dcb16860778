import { ProviderError } from '../../kernel/provider-error.js'

/**
 * How many items one request carries. Endpoints differ (one allows 256 signatures, another 5) and change their
 * mind under load, so the size is halved when a request is refused and grows back while they are not.
 */
export class BatchSize {
  readonly #most: number
  #now: number

  constructor(most: number) {
    this.#most = most
    this.#now = most
  }
  get now(): number {
    return this.#now
  }
  shrink(): void {
    this.#now = Math.max(1, Math.floor(this.#now / 2))
  }
  grow(): void {
    this.#now = Math.min(this.#most, this.#now + Math.ceil(this.#most / 32))
  }
}

/** Requests in flight at once for one call: enough to hide latency, too few to look like an attack. */
const lanes = 4

/**
 * Runs `ask` over all items in batches. A refused batch is asked again in halves; other failures of a batch
 * leave its items without an answer (they are asked again later) unless nothing at all could be answered.
 */
export async function inBatches<Item, Result>(
  items: readonly Item[],
  size: BatchSize,
  ask: (batch: readonly Item[]) => Promise<Result[]>,
): Promise<Result[]> {
  const results: Result[] = []
  let next = 0
  let failure: unknown
  async function lane(): Promise<void> {
    while (next < items.length) {
      const batch = items.slice(next, next + size.now)
      next += batch.length
      await halving(batch, size, ask).then(
        (answers) => results.push(...answers),
        (error: unknown) => {
          failure = error
        },
      )
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  if (failure !== undefined && results.length === 0) throw failure
  return results
}

async function halving<Item, Result>(
  batch: readonly Item[],
  size: BatchSize,
  ask: (batch: readonly Item[]) => Promise<Result[]>,
): Promise<Result[]> {
  try {
    const results = await ask(batch)
    size.grow()
    return results
  } catch (error) {
    const refused = error instanceof ProviderError && (error.kind === 'rejected' || error.code === 429)
    if (!refused) throw error
    size.shrink()
    if (batch.length === 1) throw error
    const middle = Math.ceil(batch.length / 2)
    return [
      ...(await halving(batch.slice(0, middle), size, ask)),
      ...(await halving(batch.slice(middle), size, ask)),
    ]
  }
}
