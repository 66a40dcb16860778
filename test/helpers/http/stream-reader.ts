import { connect } from 'node:net'
import type { ExecutionContext } from 'ava'
import { until } from '../until.js'

interface TipEvent {
  readonly id: number
  readonly data: Readonly<Record<string, unknown>>
}

export interface StreamReader {
  /** Status line and headers. */
  readonly head: () => string
  /** The body received so far. */
  readonly body: () => string
  readonly tips: readonly TipEvent[]
  readonly isOpen: () => boolean
  /** Stops reading but keeps the connection open, as on a stalled network. */
  pause(): void
  /** Drops the connection, as a closed browser does. */
  close(): void
}

/** Reads the tip stream of a wallet. */
export function openStream(
  url: string,
  wallet: string,
  lastEventId?: string,
  version: '1.0' | '1.1' = '1.1',
): StreamReader {
  const resume = lastEventId === undefined ? {} : { 'Last-Event-ID': lastEventId }
  return readStream(new URL(`/chain/tips/stream?wallet=${wallet}`, url), resume, version)
}

/** Reads the stream at this address, with a key or a session where it needs one, until the test ends. */
export function openEventStream(
  t: ExecutionContext,
  url: string,
  {
    bearer,
    session,
    lastEventId,
  }: { readonly bearer?: string; readonly session?: string; readonly lastEventId?: string },
): Omit<StreamReader, 'tips'> & { readonly events: StreamReader['tips'] } {
  const resume = lastEventId === undefined ? {} : { 'Last-Event-ID': lastEventId }
  const { tips: events, ...reader } = readStream(
    new URL(url),
    {
      ...(bearer !== undefined && { Authorization: `Bearer ${bearer}` }),
      ...(session !== undefined && { Cookie: `session=${session}` }),
      ...resume,
    },
    '1.1',
  )
  t.teardown(reader.close)
  return { events, ...reader }
}

/** Reads a stream over a plain socket. With HTTP/1.0 the body has no chunk sizes: it is exactly what was written. */
function readStream(
  { hostname, port, host, pathname, search }: URL,
  headers: Readonly<Record<string, string>>,
  version: '1.0' | '1.1',
): StreamReader {
  const socket = connect(Number(port), hostname)
  const lines = Object.entries({ Host: host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`GET ${pathname}${search} HTTP/${version}\r\n${lines.join('')}\r\n`)
  const tips: TipEvent[] = []
  let open = true
  let head = ''
  let body = ''
  let parsed = 0
  let unread = Buffer.alloc(0)

  socket.on('data', (bytes: Buffer) => {
    unread = Buffer.concat([unread, bytes])
    if (head === '') {
      const end = unread.indexOf('\r\n\r\n')
      if (end < 0) return
      head = unread.toString('utf8', 0, end)
      unread = unread.subarray(end + 4)
    }
    body += version === '1.0' ? takeAll() : takeChunks()
    for (let end = body.indexOf('\n\n', parsed); end >= 0; end = body.indexOf('\n\n', parsed)) {
      const event = parseTip(body.slice(parsed, end))
      parsed = end + 2
      if (event !== undefined) tips.push(event)
    }
  })
  function takeAll(): string {
    const text = unread.toString('utf8')
    unread = Buffer.alloc(0)
    return text
  }
  /** Whole chunks only. */
  function takeChunks(): string {
    let text = ''
    for (;;) {
      const [line, size] = /^([0-9a-f]+)\r\n/.exec(unread.toString('latin1', 0, 20)) ?? []
      if (line === undefined || size === undefined) return text
      const end = line.length + Number.parseInt(size, 16)
      if (unread.length < end + 2) return text
      text += unread.toString('utf8', line.length, end)
      if (unread.toString('latin1', end, end + 2) !== '\r\n') text += '[a chunk without its end]'
      unread = unread.subarray(end + 2)
    }
  }
  socket
    .on('error', () => undefined)
    .on('close', () => {
      open = false
    })
  return {
    head: () => head,
    body: () => body,
    tips,
    isOpen: () => open,
    pause: () => void socket.pause(),
    close: () => {
      socket.destroy()
    },
  }
}

/**
 * Opens a stream and waits for its connection event. While the service answers 503, as on a busy machine, it tries again, like a
 * browser. It is closed after the test.
 */
export async function follow(
  t: ExecutionContext,
  url: string,
  wallet: string,
  lastEventId?: string,
): Promise<StreamReader> {
  let reader = openStream(url, wallet, lastEventId)
  t.teardown(() => reader.close())
  await until('the stream says it is connected', () => {
    if (reader.head().startsWith('HTTP/1.1 503')) {
      reader.close()
      reader = openStream(url, wallet, lastEventId)
    }
    return reader.body().includes('"connected"')
  })
  return reader
}

function parseTip(block: string): TipEvent | undefined {
  const [, id, data] = /^id: (\d+)\ndata: (.*)$/.exec(block) ?? []
  if (id === undefined || data === undefined || data.startsWith('{"status":"connected"')) return undefined
  return { id: Number(id), data: JSON.parse(data) }
}
