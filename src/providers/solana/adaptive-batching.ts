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
 * Runs `ask` over all items in batches. A refused batch is asked again in halves; an item refused alone is left
 * without an answer. An endpoint that is away or asks to come later is asked nothing more: what is left has no answer
 * either and is asked another time. Throws when nothing at all could be answered.
 */
export async function inAdaptiveBatches<Item, Result>(
  items: readonly Item[],
  size: BatchSize,
  ask: (batch: readonly Item[]) => Promise<Result[]>,
): Promise<Result[]> {
  const results: Result[] = []
  let next = 0
  let failure: unknown
  let away = false
  const onRefused = (error: ProviderError): void => {
    failure = error
  }
  async function lane(): Promise<void> {
    while (next < items.length && !away) {
      const batch = items.slice(next, next + size.now)
      next += batch.length
      await halving(batch, size, ask, onRefused).then(
        (answers) => results.push(...answers),
        (error: unknown) => {
          failure = error
          away = true
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
  onRefused: (error: ProviderError) => void,
): Promise<Result[]> {
  try {
    const results = await ask(batch)
    size.grow()
    return results
  } catch (error) {
    if (!(error instanceof ProviderError && (error.kind === 'rejected' || error.code === 429))) throw error
    size.shrink()
    if (batch.length === 1 && error.kind !== 'rejected') throw error
    if (batch.length === 1) {
      onRefused(error)
      return []
    }
    const middle = Math.ceil(batch.length / 2)
    return [
      ...(await halving(batch.slice(0, middle), size, ask, onRefused)),
      ...(await halving(batch.slice(middle), size, ask, onRefused)),
    ]
  }
}
