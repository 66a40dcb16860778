/** A tip as the stream tells it, or a sample. */
export interface Tip {
  /** Epoch milliseconds, greater than those of all tips before; undefined: a sample. */
  readonly id: string | undefined
  readonly amount: number
  readonly tokenSymbol: string
  readonly sender: string
  readonly message: string | null
  readonly timestamp: string
  readonly valueUsd: number
}

/** What is shown next: one tip, or what did not fit into the queue. */
export type Alert =
  | { readonly kind: 'tip'; readonly tip: Tip }
  | { readonly kind: 'more'; readonly more: More }

interface More {
  readonly count: number
  readonly usd: number
  /** The id of the last one. */
  readonly id: string | undefined
}

export interface Queue {
  readonly waiting: readonly Tip[]
  readonly more: More | undefined
  /**
   * Where a page load starts to read: the last tip that was shown, or left out while nothing waited. What waits is
   * behind it, so that a reload loses none of it.
   */
  readonly cursor: string | undefined
}

export interface Rules {
  readonly minUsd: number
  /** How old a tip may be that was missed. */
  readonly replayMs: number
  readonly most: number
}

export function emptyQueue(cursor: string | undefined): Queue {
  return { waiting: [], more: undefined, cursor }
}

/** The queue with one more tip, or without it where the rules leave it out. */
export function add(queue: Queue, tip: Tip, rules: Rules, nowMs: number): Queue {
  if (isLeftOut(tip, rules, nowMs))
    return isEmpty(queue) ? { ...queue, cursor: later(queue.cursor, tip.id) } : queue
  if (queue.more === undefined && queue.waiting.length < rules.most)
    return { ...queue, waiting: [...queue.waiting, tip] }
  const { count, usd, id } = queue.more ?? { count: 0, usd: 0, id: undefined }
  return { ...queue, more: { count: count + 1, usd: usd + tip.valueUsd, id: later(id, tip.id) } }
}

/** Takes what is shown next; the rest's cursor is already behind it, so that nothing is ever shown twice. */
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

function isLeftOut({ id, valueUsd, timestamp }: Tip, { minUsd, replayMs }: Rules, nowMs: number): boolean {
  if (id === undefined) return false
  return valueUsd < minUsd || nowMs - Date.parse(timestamp) > replayMs
}

function later(cursor: string | undefined, id: string | undefined): string | undefined {
  if (cursor === undefined || id === undefined) return id ?? cursor
  return Number(id) > Number(cursor) ? id : cursor
}
