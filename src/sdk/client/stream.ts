import { TippingError } from './errors.js'
import { readError, type Service, sendRequest } from './request.js'
import { createEventParser, type ServerSentEvent } from './sse-parser.js'
import { createBackoff, pause } from './wait.js'

interface ConnectionOptions extends Service {
  /** The `id` of the last processed event. Those after it are sent first. */
  readonly lastEventId?: string
  readonly signal?: AbortSignal
  /** The wait before a new connection. By default it grows from about one second to half a minute. */
  readonly retryMs?: number
  /** Called for each established connection. `serverTime` is the service's clock, if the response has it. */
  readonly onConnected?: (serverTime: Date | undefined) => void
  /** Called when a connection is lost or could not be established. */
  readonly onDisconnected?: () => void
}

export interface StreamOptions extends ConnectionOptions {
  readonly wallet: string
}

/** A confirmed tip. */
export interface StreamedTip {
  /** Increases with every tip of a wallet. Use it as `lastEventId` of the next stream. */
  readonly id: string
  readonly type: 'tip'
  /** The same as in `/sdk/events`, also when a tip is confirmed anew after a restore of the service. */
  readonly eventId: string
  readonly amount: number
  readonly receivedAmount: number
  readonly tokenSymbol: string
  readonly sender: string
  /** The name that a crypto supporter gave. */
  readonly senderName?: string
  /** What was paid for a naira tip. */
  readonly amountNgn?: number
  readonly message: string | null
  readonly timestamp: string
  /** At the last known price; 0 without one. */
  readonly valueUsd: number
}

/** The service sends a heartbeat every 15 s. A connection without data for this long is dead. */
const silenceMs = 40_000

/**
 * The tips of a wallet as they are confirmed, each tip once. It reconnects as often as needed and resumes after the
 * last received tip. Ends when `signal` is aborted. Throws TippingError for a refusal that is not temporary.
 */
export async function* streamTips({
  wallet,
  ...options
}: StreamOptions): AsyncGenerator<StreamedTip, void, undefined> {
  const path = `/chain/tips/stream?wallet=${encodeURIComponent(wallet)}`
  for await (const event of streamEvents({ ...options, path })) {
    const tip = tipOf(event)
    if (tip !== undefined) yield tip
  }
}

/**
 * The events of a stream, each once, through lost connections. Uses `fetch`, because an EventSource stops after a 503 and cannot resume
 * after a page reload.
 */
export async function* streamEvents(
  options: ConnectionOptions & { readonly path: string },
): AsyncGenerator<ServerSentEvent, void, undefined> {
  const { signal, retryMs, onConnected, onDisconnected } = options
  const backoff = createBackoff()
  let lastEventId = options.lastEventId
  const connected = (serverTime: Date | undefined): void => {
    backoff.reset()
    // If this connection ends before its first tip, the next one resumes from the time of this one.
    lastEventId ??= serverTime && String(serverTime.getTime())
    onConnected?.(serverTime)
  }
  while (signal?.aborted !== true) {
    try {
      for await (const event of readConnection({ ...options, onConnected: connected }, lastEventId)) {
        lastEventId = event.id ?? lastEventId
        yield event
      }
    } catch (error) {
      if (!(error instanceof TippingError && error.temporary)) throw error
    }
    onDisconnected?.()
    await pause(retryMs ?? backoff.nextMs(), signal).catch(() => undefined)
  }
}

/** Undefined for any other event: `connected` has an id too, from which the next connection resumes. */
export function tipOf({ id, data }: ServerSentEvent): StreamedTip | undefined {
  if (id === undefined || data === undefined) return undefined
  const tip = JSON.parse(data) as Omit<StreamedTip, 'id'>
  return tip.type === 'tip' ? { id, ...tip } : undefined
}

/** The events of one connection, until it ends, breaks or sends nothing for too long. */
async function* readConnection(
  { path, signal, onConnected, ...service }: ConnectionOptions & { readonly path: string },
  lastEventId: string | undefined,
): AsyncGenerator<ServerSentEvent, void, undefined> {
  const own = new AbortController()
  const end = (): void => own.abort()
  signal?.addEventListener('abort', end, { once: true })
  let silence = setTimeout(end, silenceMs)
  let established = false
  try {
    const headers = {
      accept: 'text/event-stream',
      ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
    }
    const response = await sendRequest(service, path, { headers, credentials: 'omit', signal: own.signal })
    if (response.status !== 200 || response.body === null) throw await readError(response)
    const parse = createEventParser()
    for await (const chunk of readText(response.body)) {
      clearTimeout(silence)
      silence = setTimeout(end, silenceMs)
      for (const event of parse(chunk)) {
        // A service that is shutting down may answer 200 and then send nothing: the first event counts.
        if (event.data !== undefined && !established) onConnected?.(serverTimeOf(response))
        established ||= event.data !== undefined
        yield event
      }
    }
  } finally {
    clearTimeout(silence)
    signal?.removeEventListener('abort', end)
    end()
  }
}

function serverTimeOf({ headers }: Response): Date | undefined {
  const ms = Date.parse(headers.get('date') ?? '')
  return Number.isNaN(ms) ? undefined : new Date(ms)
}

/** The text of a body, up to its end or a failure. Not every browser can iterate over a body directly. */
async function* readText(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  for (;;) {
    const part = await reader.read().catch(() => undefined)
    if (part === undefined || part.done) return
    yield decoder.decode(part.value, { stream: true })
  }
}
