import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
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

/**
 * One open stream of server-sent events. It soon leaves its request behind (`detach`): ten thousand streams would otherwise keep as many
 * requests, responses, contexts and parsers, which is most of their memory.
 */
export class EventStream {
  #response: ServerResponse | undefined
  /** Undefined while the response writes. */
  #socket: Socket | undefined
  /** HTTP/1.0 has no chunks. */
  readonly #isChunked: boolean
  #closed = false
  onClose: () => void = () => undefined

  /** Takes the response over from Koa and sends the head and the retry directive. */
  constructor(ctx: Context) {
    const { req, res } = ctx
    ctx.respond = false
    ctx.status = 200
    this.#response = res
    req.socket.setNoDelay(true)
    req.socket.setTimeout(0)
    res.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    })
    res.on('close', () => this.#markClosed())
    res.on('error', () => this.close())
    res.write(retryDirective)
    this.#isChunked = res.chunkedEncoding
    // A response that waits for an earlier one on its connection keeps writing itself, and is not told when that connection closes.
    if (res.socket === null) {
      req.socket.once('close', () => this.close())
      if (req.socket.destroyed) setImmediate(() => this.close())
      return
    }
    const onClose = req.socket.listeners('close') as Listener[]
    req.once('end', () => setImmediate(() => this.#detach(req.socket, onClose)))
    req.resume()
  }

  get closed(): boolean {
    return this.#closed
  }

  /** Sends text in event-stream form. Returns false when the stream is closed, also when this call has closed it. */
  send(text: string): boolean {
    if (this.#closed) return false
    this.#write(text)
    if (((this.#socket ?? this.#response)?.writableLength ?? 0) > mostUnreadBytes) this.close()
    return !this.#closed
  }

  /** Closes the stream immediately. Unread bytes are lost; the reader gets those events again when it reconnects. */
  close(): void {
    ;(this.#socket ?? this.#response)?.destroy()
    this.#markClosed()
  }

  /** Ends the stream after the bytes already sent. `reconnectMs`: when the reader comes back, instead of the usual time. */
  end(reconnectMs?: number): void {
    const last = reconnectMs === undefined ? undefined : `retry: ${reconnectMs}\n\n`
    const open = this.#socket ?? this.#response
    if (this.#socket === undefined) this.#response?.end(last)
    else {
      if (last !== undefined) this.#write(last)
      this.#socket.end(this.#isChunked ? lastChunk : '')
    }
    setTimeout(() => open?.destroy(), lastBytesMs).unref()
    this.#markClosed()
  }

  #write(text: string): void {
    if (this.#socket === undefined) this.#response?.write(text)
    else this.#socket.write(this.#isChunked ? chunkOf(text) : text)
  }

  #detach(socket: Socket, onClose: readonly Listener[]): void {
    if (this.#closed || this.#response === undefined || socket.destroyed) return
    leaveHttp(socket, this.#response, onClose)
    this.#response = undefined
    this.#socket = socket
    socket.on('error', () => this.close())
    socket.on('close', () => this.#markClosed())
    // The reader has closed its side. HTTP's sockets stay half open by themselves.
    socket.on('end', () => this.close())
  }

  #markClosed(): void {
    if (this.#closed) return
    this.#closed = true
    this.onClose()
  }
}

const usedByHttp = ['end', 'error', 'data', 'drain', 'timeout', 'pause', 'resume'] as const

/**
 * Takes the socket away from the HTTP server, whose request on it is complete, as an upgrade does: reading goes to the socket, and what
 * HTTP does when a connection closes (`onClose`) frees the parser and the request. The socket stays open. The server's `close` waits for it.
 */
function leaveHttp(socket: Socket, response: ServerResponse, onClose: readonly Listener[]): void {
  socket.on('data', ignore)
  response.detachSocket(socket)
  response.removeAllListeners()
  for (const event of usedByHttp)
    for (const listener of socket.listeners(event) as Listener[])
      if (listener !== ignore) socket.removeListener(event, listener)
  for (const listener of onClose) {
    socket.removeListener('close', listener)
    listener.call(socket, false)
  }
  socket.resume()
}

type Listener = (...args: unknown[]) => void

/** A reader has nothing to say. */
function ignore(): void {}

const lastChunk = '0\r\n\r\n'
/** The newest text and its bytes: most often the same text goes to many readers, one after the other. */
let newest = { text: '', chunk: Buffer.alloc(0) }

/** A chunk of a body in HTTP's chunked coding. */
function chunkOf(text: string): Buffer {
  if (newest.text === text) return newest.chunk
  newest = { text, chunk: Buffer.from(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`) }
  return newest.chunk
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
