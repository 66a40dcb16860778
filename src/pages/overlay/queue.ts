/** A tip from the stream, or a sample. */
export interface Tip {
  /** Epoch milliseconds, strictly increasing; undefined for a sample of the page's own. */
  readonly id: string | undefined
  /** It is shown whatever it is worth. */
  readonly isSample?: true
  /** Identifies the tip, also when it is confirmed again; undefined for a sample, and from an older service. */
  readonly eventId?: string
  readonly amount: number
  readonly tokenSymbol: string
  readonly sender: string
  /** The name that a crypto supporter gave. */
  readonly senderName?: string
  /** What was paid for a naira tip. */
  readonly amountNgn?: number
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
  readonly id: string | undefined
  readonly eventIds: readonly string[]
}

export interface Queue {
  readonly waiting: readonly Tip[]
  readonly more: Overflow | undefined
  /**
   * The next page load reads after this tip: the last one that was shown, or skipped while the queue was empty. Waiting
   * tips come after it, so a reload reads them again.
   */
  readonly cursor: string | undefined
  /** The beginnings of the `eventId`s that were shown last. */
  readonly shown: readonly string[]
}

export interface Rules {
  readonly minUsd: number
  /** When the connection was made, by the service's clock. Tips from before were missed; later ones are live. */
  readonly connectedMs: number
  /** How long before a missed tip may have been. */
  readonly replayMs: number
  readonly maxWaiting: number
}

const mostKnown = 500
/** Enough of a signature to tell it from every other one. */
const knownLength = 24

export function emptyQueue(cursor: string | undefined): Queue {
  return { waiting: [], more: undefined, cursor, shown: [] }
}

export function add(queue: Queue, tip: Tip, rules: Rules): Queue {
  if (isSkipped(tip, rules) || isKnown(queue, tip))
    return isEmpty(queue) ? { ...queue, cursor: later(queue.cursor, tip.id) } : queue
  if (queue.more === undefined && queue.waiting.length < rules.maxWaiting)
    return { ...queue, waiting: [...queue.waiting, tip] }
  const { count, usd, id, eventIds } = queue.more ?? { count: 0, usd: 0, id: undefined, eventIds: [] }
  const more = {
    count: count + 1,
    usd: usd + tip.valueUsd,
    id: later(id, tip.id),
    eventIds: [...eventIds, ...eventIdOf(tip)],
  }
  return { ...queue, more }
}

/** Takes the next alert. The cursor of the rest is already past it, so no tip is shown twice. */
export function take(queue: Queue): { readonly alert: Alert; readonly rest: Queue } | undefined {
  const [tip, ...waiting] = queue.waiting
  if (tip !== undefined)
    return { alert: { kind: 'tip', tip }, rest: { ...passed(queue, tip.id, eventIdOf(tip)), waiting } }
  const { more } = queue
  if (more === undefined) return undefined
  return {
    alert: { kind: 'more', more },
    rest: { ...passed(queue, more.id, more.eventIds), more: undefined },
  }
}

/** Takes a tip out that waits. In the sum of those that did not fit it stays: that says no words. */
export function remove(queue: Queue, eventId: string): Queue {
  return { ...queue, waiting: queue.waiting.filter((tip) => tip.eventId !== eventId) }
}

function passed(queue: Queue, id: string | undefined, eventIds: readonly string[]): Queue {
  return { ...queue, cursor: later(queue.cursor, id), shown: [...queue.shown, ...eventIds].slice(-mostKnown) }
}

const eventIdOf = ({ eventId }: Tip): string[] =>
  eventId === undefined ? [] : [eventId.slice(0, knownLength)]

/** It was shown or waits. A page that was refused for a while reads on after the last tip that it showed, so those that wait come again. */
function isKnown({ shown, waiting, more }: Queue, tip: Tip): boolean {
  const known = [...shown, ...waiting.flatMap(eventIdOf), ...(more?.eventIds ?? [])]
  return eventIdOf(tip).some((one) => known.includes(one))
}

function isEmpty({ waiting, more }: Queue): boolean {
  return waiting.length === 0 && more === undefined
}

function isSkipped(
  { id, isSample, valueUsd, timestamp }: Tip,
  { minUsd, connectedMs, replayMs }: Rules,
): boolean {
  if (id === undefined || isSample) return false
  const missedMs = connectedMs - Date.parse(timestamp)
  return valueUsd < minUsd || (missedMs > 0 && missedMs > replayMs)
}

function later(cursor: string | undefined, id: string | undefined): string | undefined {
  if (cursor === undefined || id === undefined) return id ?? cursor
  return Number(id) > Number(cursor) ? id : cursor
}
