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

/** Reads a tip stream over a plain socket. With HTTP/1.0 the body has no chunk sizes: it is exactly what was written. */
export function openStream(url: string, wallet: string, lastEventId?: string): StreamReader {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  const resume = lastEventId === undefined ? '' : `Last-Event-ID: ${lastEventId}\r\n`
  socket.write(
    `GET /chain/tips/stream?wallet=${wallet} HTTP/1.0\r\nHost: ${hostname}:${port}\r\n${resume}\r\n`,
  )
  const tips: TipEvent[] = []
  let open = true
  let head = ''
  let body = ''
  let parsed = 0

  socket.setEncoding('utf8').on('data', (text: string) => {
    body += text
    if (head === '') {
      const end = body.indexOf('\r\n\r\n')
      if (end < 0) return
      head = body.slice(0, end)
      body = body.slice(end + 4)
    }
    for (let end = body.indexOf('\n\n', parsed); end >= 0; end = body.indexOf('\n\n', parsed)) {
      const event = parseTip(body.slice(parsed, end))
      parsed = end + 2
      if (event !== undefined) tips.push(event)
    }
  })
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

/** Opens a stream and waits for its connection event. It is closed after the test. */
export async function follow(
  t: ExecutionContext,
  url: string,
  wallet: string,
  lastEventId?: string,
): Promise<StreamReader> {
  const reader = openStream(url, wallet, lastEventId)
  t.teardown(reader.close)
  await until('the stream says it is connected', () => reader.body().includes('"connected"'))
  return reader
}

function parseTip(block: string): TipEvent | undefined {
  const [, id, data] = /^id: (\d+)\ndata: (.*)$/.exec(block) ?? []
  if (id === undefined || data === undefined || data.startsWith('{"status":"connected"')) return undefined
  return { id: Number(id), data: JSON.parse(data) }
}
