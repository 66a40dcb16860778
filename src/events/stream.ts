import { randomInt } from 'node:crypto'
import type { Context } from 'koa'
import { EventStream, eventText, type HeartbeatWheel } from '../http/sse.js'
import type { Services } from '../services.js'
import type { StreamEvent, StreamHub } from './stream-hub.js'

/** When the readers of a process that stops come back. */
const leastReconnectMs = 500
const mostReconnectMs = 5000

/** Where a reader begins. */
export interface StreamStart {
  readonly key: string
  /** The cursor of the newest event. */
  readonly newest: number
  /** What the reader is sent first. */
  readonly connected: object
}

interface StreamOptions {
  /** Where a reader without `Last-Event-ID` begins. Undefined: now. */
  readonly after?: number | undefined
  readonly wants?: (event: StreamEvent) => boolean
  /** Whether the reader may read no further, from this event on. */
  readonly ends?: (event: StreamEvent) => boolean
  /** What the reader has presented. Undefined: anybody may read. */
  readonly credential?: string
}

/** The open streams of one hub. */
export interface LiveStreams {
  /**
   * Serves one reader: the retry directive, what it is sent first, then every new event that it wants. With a cursor the stream starts
   * after that event.
   */
  serve(ctx: Context, findStart: () => Promise<StreamStart>, options?: StreamOptions): Promise<void>
  /** Ends the streams whose credential has become invalid. `findValid`: of these credentials, those that are valid. */
  endInvalid(findValid: (credentials: readonly string[]) => Promise<readonly string[]>): Promise<void>
  /** Ends all streams. Their readers reconnect to another process, each at a time of its own, so that they do not come all at once. */
  close(): void
}

export function createLiveStreams(
  { metrics }: Pick<Services, 'metrics'>,
  hub: StreamHub,
  wheel: HeartbeatWheel,
): LiveStreams {
  const open = new Map<EventStream, string | undefined>()
  let closing = false
  return {
    async serve(ctx, findStart, { after, wants = () => true, ends = () => false, credential } = {}) {
      const stream = new EventStream(ctx)
      open.set(stream, credential)
      metrics.openStreams.inc()
      const removeHeartbeat = wheel.add(stream)
      let closeReader = (): void => undefined
      stream.onClose = () => {
        open.delete(stream)
        metrics.openStreams.dec()
        removeHeartbeat()
        closeReader()
      }
      const start = await findStart().catch(() => undefined)
      if (start === undefined || closing) {
        // After an error status a browser's EventSource gives up. After the end of a stream it reconnects in ten seconds.
        stream.end()
        return
      }
      const { key, newest } = start
      const cursor = startCursor(ctx.get('Last-Event-ID'), after, newest)
      // With this id a stock EventSource also resumes from here when the connection breaks before the first event.
      stream.send(eventText(start.connected, cursor))
      if (stream.closed) return
      closeReader = hub.open({ key, cursor }, newest, (event) => {
        if (ends(event)) stream.end()
        else if (wants(event)) stream.send(event.text)
      })
    },
    async endInvalid(findValid) {
      const asked = new Set([...open.values()].filter((credential) => credential !== undefined))
      if (asked.size === 0) return
      // A stream that opens meanwhile was not asked about.
      for (const valid of await findValid([...asked])) asked.delete(valid)
      for (const [stream, credential] of open)
        if (credential !== undefined && asked.has(credential)) stream.end()
    },
    close() {
      closing = true
      for (const stream of open.keys()) stream.end(randomInt(leastReconnectMs, mostReconnectMs))
    },
  }
}

/** The cursor to start from: the last event the reader received, but never in the future. */
function startCursor(lastEventId: string, after: number | undefined, newest: number): number {
  const given = /^\d{1,15}$/.test(lastEventId) ? Number(lastEventId) : after
  return Math.min(given ?? newest, newest)
}
