import type { ServerResponse } from 'node:http'
import type { Context } from 'koa'

/** A reader with more unread bytes is disconnected, to bound the memory. It reconnects and gets the missed events. */
const mostUnreadBytes = 256 * 1024
/** API: the reconnection time and the heartbeat of GET /chain/tips/stream. */
const retryDirective = 'retry: 10000\n\n'
const heartbeat = ':\n\n'
const heartbeatMs = 15_000
const wheelSlots = 60
/** After `end`, a reader has this long to receive the last bytes. Then the connection is destroyed. */
const lastBytesMs = 1000

/** One open stream of server-sent events. */
export class EventStream {
  readonly #response: ServerResponse
  #closed = false
  onClose: () => void = () => undefined

  /** Takes the response over from Koa and sends the head and the retry directive. */
  constructor(ctx: Context) {
    ctx.respond = false
    ctx.status = 200
    this.#response = ctx.res
    ctx.req.socket.setNoDelay(true)
    ctx.req.socket.setTimeout(0)
    ctx.res.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    })
    ctx.res.on('close', () => this.#markClosed())
    ctx.res.on('error', () => this.close())
    ctx.res.write(retryDirective)
  }

  get closed(): boolean {
    return this.#closed
  }

  /** Sends text in event-stream form. Returns false when the stream is closed, also when this call has closed it. */
  send(text: string): boolean {
    if (this.#closed) return false
    this.#response.write(text)
    if (this.#response.writableLength > mostUnreadBytes) this.close()
    return !this.#closed
  }

  /** Closes the stream immediately. Unread bytes are lost; the reader gets those events again when it reconnects. */
  close(): void {
    this.#response.destroy()
    this.#markClosed()
  }

  /** Ends the stream after the bytes already sent. `reconnectMs`: when the reader comes back, instead of the usual time. */
  end(reconnectMs?: number): void {
    this.#response.end(reconnectMs === undefined ? undefined : `retry: ${reconnectMs}\n\n`)
    setTimeout(() => this.#response.destroy(), lastBytesMs).unref()
    this.#markClosed()
  }

  #markClosed(): void {
    if (this.#closed) return
    this.#closed = true
    this.onClose()
  }
}

/** The text of one event. A reader that reconnects sends the last `id` it received. */
export function eventText(data: unknown, id?: number): string {
  return `${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`
}

/**
 * Heartbeats for all streams of a process. The streams are spread over the slots of a wheel that turns once every 15 s.
 * One timer for all streams would block the event loop for 100 ms at ten thousand readers.
 */
export class HeartbeatWheel {
  readonly #slots: Set<EventStream>[] = Array.from({ length: wheelSlots }, () => new Set())
  readonly #timer: NodeJS.Timeout
  #now = 0
  #next = 1

  /** `everyMs`: the time of one turn. Only tests pass another value than the API's. */
  constructor(everyMs = heartbeatMs) {
    this.#timer = setInterval(() => this.#turn(), everyMs / wheelSlots)
    this.#timer.unref()
  }

  /** Adds a stream to the current slot: its first heartbeat is due after one turn. Returns a function to remove it. */
  add(stream: EventStream): () => void {
    const slot = this.#slots[this.#now] as Set<EventStream>
    slot.add(stream)
    return () => slot.delete(stream)
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #turn(): void {
    this.#now = this.#next
    this.#next = (this.#next + 1) % wheelSlots
    for (const stream of this.#slots[this.#now] as Set<EventStream>) stream.send(heartbeat)
  }
}
