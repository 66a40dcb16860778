import { ProviderError } from '../../kernel/provider-error.js'

/**
 * The number of items in one request. Endpoints have different limits (one allows 256 signatures, another 5), which
 * also change with load. So the size is halved when a request is refused or gets no answer, and grows while requests succeed.
 */
export class BatchSize {
  readonly #max: number
  #current: number
  /** A rate limited batch is being repeated in halves. Meanwhile no other is: that would be as many requests again. */
  isProbed = false

  constructor(max: number) {
    this.#max = max
    this.#current = max
  }
  get current(): number {
    return this.#current
  }
  shrink(): void {
    this.#current = Math.max(1, Math.floor(this.#current / 2))
  }
  grow(): void {
    this.#current = Math.min(this.#max, this.#current + Math.ceil(this.#max / 32))
  }
}

/** Requests in flight for one call: enough to hide latency, too few to look like an attack. */
const concurrency = 4

/**
 * Requests all items in batches. A refused batch is repeated in halves; a single item that is refused has no result.
 * After an endpoint was unavailable or rate limited us, nothing more is requested but the halves of one batch: the remaining items have
 * no result and are requested another time. Throws when there is no result at all.
 */
export async function inAdaptiveBatches<Item, Result>(
  items: readonly Item[],
  size: BatchSize,
  request: (batch: readonly Item[]) => Promise<Result[]>,
): Promise<Result[]> {
  const results: Result[] = []
  let next = 0
  let failure: unknown
  let unavailable = false
  const onRefused = (error: ProviderError): void => {
    failure = error
  }
  async function requestBatches(): Promise<void> {
    while (next < items.length && !unavailable) {
      const batch = items.slice(next, next + size.current)
      next += batch.length
      await requestInHalves(batch, size, request, onRefused).then(
        (answers) => results.push(...answers),
        (error: unknown) => {
          failure = error
          unavailable = true
        },
      )
    }
  }
  await Promise.all(Array.from({ length: concurrency }, requestBatches))
  if (failure !== undefined && results.length === 0) throw failure
  return results
}

/** `probes`: it is half of a batch that was rate limited. */
async function requestInHalves<Item, Result>(
  batch: readonly Item[],
  size: BatchSize,
  request: (batch: readonly Item[]) => Promise<Result[]>,
  onRefused: (error: ProviderError) => void,
  probes = false,
): Promise<Result[]> {
  try {
    const results = await request(batch)
    size.grow()
    return results
  } catch (error) {
    const fault = faultOf(error)
    if (fault !== undefined) size.shrink()
    if (fault === 'refused' && batch.length === 1) {
      onRefused(error as ProviderError)
      return []
    }
    const mayProbe = batch.length > 1 && (probes || !size.isProbed)
    if (fault === 'refused' || (fault === 'limited' && mayProbe))
      return await requestHalves(fault === 'limited')
    throw error
  }
  async function requestHalves(isLimited: boolean): Promise<Result[]> {
    size.isProbed ||= isLimited
    const middle = Math.ceil(batch.length / 2)
    const halve = (half: readonly Item[]) =>
      requestInHalves(half, size, request, onRefused, probes || isLimited)
    try {
      return [...(await halve(batch.slice(0, middle))), ...(await halve(batch.slice(middle)))]
    } finally {
      if (isLimited && !probes) size.isProbed = false
    }
  }
}

/**
 * What may be wrong with the size of a batch. Without an answer it may have been too much as well: halves could take as long each, so
 * only the next call asks for less.
 */
function faultOf(error: unknown): 'refused' | 'limited' | 'unanswered' | undefined {
  if (!(error instanceof ProviderError)) return undefined
  if (error.kind === 'rejected') return 'refused'
  if (error.code === 429) return 'limited'
  return error.kind === 'ambiguous' ? 'unanswered' : undefined
}
