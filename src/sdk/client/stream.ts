import { refused, type Service, send } from './ask.js'
import { createBackoff } from './backoff.js'
import { TippingError } from './errors.js'
import { pause } from './pause.js'
import { createEventParser, type ServerSentEvent } from './sse-parser.js'

export interface StreamOptions extends Service {
  readonly wallet: string
  /** The `id` of the last tip that was processed: what came after it is sent first. */
  readonly lastEventId?: string
  readonly signal?: AbortSignal
  /** How long to wait before connecting again; by default about a second, then ever longer up to half a minute. */
  readonly retryMs?: number
  /** Told of each connection that stands; `serverTime` is the service's clock, if it says. */
  readonly onConnected?: (serverTime: Date | undefined) => void
  /** Told when one is lost or could not be made. */
  readonly onDisconnected?: () => void
}

/** A tip just confirmed. */
export interface StreamedTip {
  /** Where to go on from: greater than those of all tips before. */
  readonly id: string
  readonly type: 'tip'
  readonly amount: number
  readonly receivedAmount: number
  readonly tokenSymbol: string
  readonly sender: string
  readonly message: string | null
  readonly timestamp: string
  /** At the last known price; 0 if none was ever known. */
  readonly valueUsd: number
}

/** The service sends a heartbeat every 15 s: a connection this quiet is dead. */
const silenceMs = 40_000

/**
 * The tips of a wallet as they are confirmed, over as many connections as it takes, each tip once: a new connection goes
 * on after the last tip seen. Ends when `signal` is aborted; throws TippingError when the service refuses for good.
 * Needs `fetch` only: an EventSource gives up at the first 503 and cannot go on where another page load stopped.
 */
export async function* streamTips(options: StreamOptions): AsyncGenerator<StreamedTip, void, undefined> {
  const { signal, retryMs, onConnected, onDisconnected } = options
  const backoff = createBackoff()
  let lastEventId = options.lastEventId
  const connected = (serverTime: Date | undefined): void => {
    backoff.reset()
    // A connection that is lost before its first tip goes on from when it stood.
    lastEventId ??= serverTime && String(serverTime.getTime())
    onConnected?.(serverTime)
  }
  while (signal?.aborted !== true) {
    try {
      for await (const event of readConnection({ ...options, onConnected: connected }, lastEventId)) {
        if (event.id === undefined || event.data === undefined) continue
        lastEventId = event.id
        yield { id: event.id, ...(JSON.parse(event.data) as Omit<StreamedTip, 'id'>) }
      }
    } catch (error) {
      if (!(error instanceof TippingError && error.temporary)) throw error
    }
    onDisconnected?.()
    await pause(retryMs ?? backoff.nextMs(), signal).catch(() => undefined)
  }
}

/** The events of one connection, until it ends, breaks or falls silent. */
async function* readConnection(
  { wallet, signal, onConnected, ...service }: StreamOptions,
  lastEventId: string | undefined,
): AsyncGenerator<ServerSentEvent, void, undefined> {
  const own = new AbortController()
  const end = (): void => own.abort()
  signal?.addEventListener('abort', end, { once: true })
  let silence = setTimeout(end, silenceMs)
  let stands = false
  try {
    const headers = {
      accept: 'text/event-stream',
      ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
    }
    const path = `/chain/tips/stream?wallet=${encodeURIComponent(wallet)}`
    const response = await send(service, path, { headers, credentials: 'omit', signal: own.signal })
    if (response.status !== 200 || response.body === null) throw await refused(response)
    const parse = createEventParser()
    for await (const chunk of chunksOf(response.body)) {
      clearTimeout(silence)
      silence = setTimeout(end, silenceMs)
      for (const event of parse(chunk)) {
        // A service that is ending also answers 200, and then says nothing.
        if (event.data !== undefined && !stands) onConnected?.(timeOf(response))
        stands ||= event.data !== undefined
        yield event
      }
    }
  } finally {
    clearTimeout(silence)
    signal?.removeEventListener('abort', end)
    end()
  }
}

function timeOf({ headers }: Response): Date | undefined {
  const ms = Date.parse(headers.get('date') ?? '')
  return Number.isNaN(ms) ? undefined : new Date(ms)
}

/** The text of a body; one that breaks ends. Not every browser can iterate over a body itself. */
async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  for (;;) {
    const part = await reader.read().catch(() => undefined)
    if (part === undefined || part.done) return
    yield decoder.decode(part.value, { stream: true })
  }
}
