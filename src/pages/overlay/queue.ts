/** A tip from the stream, or a sample. */
export interface Tip {
  /** Epoch milliseconds, strictly increasing; undefined for a sample. */
  readonly id: string | undefined
  readonly amount: number
  readonly tokenSymbol: string
  readonly sender: string
  readonly message: string | null
  readonly timestamp: string
  readonly valueUsd: number
}

/** One tip, or the sum of the tips that did not fit into the queue. */
export type Alert =
  | { readonly kind: 'tip'; readonly tip: Tip }
  | { readonly kind: 'more'; readonly more: Overflow }

interface Overflow {
  readonly count: number
  readonly usd: number
  /** The id of the last tip in it. */
  readonly id: string | undefined
}

export interface Queue {
  readonly waiting: readonly Tip[]
  readonly more: Overflow | undefined
  /**
   * The next page load reads after this tip: the last one that was shown, or skipped while the queue was empty. Waiting
   * tips come after it, so a reload reads them again.
   */
  readonly cursor: string | undefined
}

export interface Rules {
  readonly minUsd: number
  /** A missed tip older than this is skipped. */
  readonly replayMs: number
  readonly maxWaiting: number
}

export function emptyQueue(cursor: string | undefined): Queue {
  return { waiting: [], more: undefined, cursor }
}

/** Adds a tip, unless the rules skip it. */
export function add(queue: Queue, tip: Tip, rules: Rules, nowMs: number): Queue {
  if (isSkipped(tip, rules, nowMs))
    return isEmpty(queue) ? { ...queue, cursor: later(queue.cursor, tip.id) } : queue
  if (queue.more === undefined && queue.waiting.length < rules.maxWaiting)
    return { ...queue, waiting: [...queue.waiting, tip] }
  const { count, usd, id } = queue.more ?? { count: 0, usd: 0, id: undefined }
  return { ...queue, more: { count: count + 1, usd: usd + tip.valueUsd, id: later(id, tip.id) } }
}

/** Takes the next alert. The cursor of the rest is already past it, so no tip is shown twice. */
export function take(queue: Queue): { readonly alert: Alert; readonly rest: Queue } | undefined {
  const [tip, ...waiting] = queue.waiting
  if (tip !== undefined)
    return { alert: { kind: 'tip', tip }, rest: { ...queue, waiting, cursor: later(queue.cursor, tip.id) } }
  const { more } = queue
  if (more === undefined) return undefined
  return {
    alert: { kind: 'more', more },
    rest: { ...queue, more: undefined, cursor: later(queue.cursor, more.id) },
  }
}

function isEmpty({ waiting, more }: Queue): boolean {
  return waiting.length === 0 && more === undefined
}

function isSkipped({ id, valueUsd, timestamp }: Tip, { minUsd, replayMs }: Rules, nowMs: number): boolean {
  if (id === undefined) return false
  return valueUsd < minUsd || nowMs - Date.parse(timestamp) > replayMs
}

function later(cursor: string | undefined, id: string | undefined): string | undefined {
  if (cursor === undefined || id === undefined) return id ?? cursor
  return Number(id) > Number(cursor) ? id : cursor
}
