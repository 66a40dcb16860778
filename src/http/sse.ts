import type { ServerResponse } from 'node:http'
import type { Context } from 'koa'

/** A reader this far behind is dropped: it comes back and is replayed, while its bytes would only grow in our memory. */
const mostBehindBytes = 256 * 1024
/** Contract: reconnect hint and heartbeat. */
const retryDirective = 'retry: 10000\n\n'
const heartbeat = ':\n\n'
const heartbeatMs = 15_000
const wheelSlots = 60
/** What was sent before the end reaches a reader that reads within this; nobody waits for one that does not. */
const lastBytesMs = 1000

/** One open stream of server-sent events. */
export class EventStream {
  readonly #response: ServerResponse
  #closed = false
  onClose: () => void = () => undefined

  /** Takes the response from Koa and sends the head and the retry directive as its first bytes. */
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
    ctx.res.on('close', () => this.#end())
    ctx.res.on('error', () => this.close())
    ctx.res.write(retryDirective)
  }

  get closed(): boolean {
    return this.#closed
  }

  /** Sends text that is already in event-stream form; false when the reader was (or is now) dropped. */
  send(text: string): boolean {
    if (this.#closed) return false
    this.#response.write(text)
    if (this.#response.writableLength > mostBehindBytes) this.close()
    return !this.#closed
  }

  /** Ends the stream at once; a reader that is behind loses what it has not read, and asks for it again. */
  close(): void {
    this.#response.destroy()
    this.#end()
  }

  /** Ends the stream after what was sent. */
  finish(): void {
    this.#response.end()
    setTimeout(() => this.#response.destroy(), lastBytesMs).unref()
    this.#end()
  }

  #end(): void {
    if (this.#closed) return
    this.#closed = true
    this.onClose()
  }
}

/** One event: `id` lets a reader that comes back say what it has seen. */
export function eventText(data: unknown, id?: number): string {
  return `${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`
}

/**
 * Heartbeats for all streams of a process. A wheel of slots, one turn each 15 s: one timer that wrote to ten
 * thousand readers at once would hold up everything else for a tenth of a second.
 */
export class HeartbeatWheel {
  readonly #slots: Set<EventStream>[] = Array.from({ length: wheelSlots }, () => new Set())
  readonly #timer: NodeJS.Timeout
  #now = 0
  #next = 1

  /** `everyMs`: one turn of the wheel; the contract's unless a test is in a hurry. */
  constructor(everyMs = heartbeatMs) {
    this.#timer = setInterval(() => this.#turn(), everyMs / wheelSlots)
    this.#timer.unref()
  }

  /** Adds a stream to the slot just passed, so that its first heartbeat comes 15 s from now. Returns how to remove it. */
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
