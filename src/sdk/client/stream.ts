import { refused, type Service, send } from './ask.js'
import { TippingError } from './errors.js'
import { pause } from './pause.js'
import { createEventParser, type ServerSentEvent } from './sse-parser.js'

export interface StreamOptions extends Service {
  readonly wallet: string
  /** The `id` of the last tip that was processed: what came after it is sent first. */
  readonly lastEventId?: string
  readonly signal?: AbortSignal
  /** How long to wait before connecting again; by default what the service says. */
  readonly retryMs?: number
}

/** A tip just confirmed. */
export interface StreamedTip {
  /** Where to go on from. */
  readonly id: string
  readonly type: 'tip'
  readonly amount: number
  readonly receivedAmount: number
  readonly tokenSymbol: string
  readonly sender: string
  readonly message: string | null
  readonly timestamp: string
}

const defaultRetryMs = 10_000
/** The service sends a heartbeat every 15 s: a connection this quiet is dead. */
const silenceMs = 45_000

/**
 * The tips of a wallet as they are confirmed, over as many connections as it takes, each tip once: a new connection goes
 * on after the last tip seen. Ends when `signal` is aborted; throws TippingError when the service refuses for good.
 * Needs `fetch` only, so it also works where there is no EventSource.
 */
export async function* streamTips(options: StreamOptions): AsyncGenerator<StreamedTip, void, undefined> {
  const { signal } = options
  let lastEventId = options.lastEventId
  let retryMs = options.retryMs ?? defaultRetryMs
  while (signal?.aborted !== true) {
    try {
      for await (const event of readConnection(options, lastEventId)) {
        retryMs = options.retryMs ?? event.retryMs ?? retryMs
        if (event.id === undefined || event.data === undefined) continue
        lastEventId = event.id
        yield { id: event.id, ...(JSON.parse(event.data) as Omit<StreamedTip, 'id'>) }
      }
    } catch (error) {
      if (!(error instanceof TippingError && error.temporary)) throw error
    }
    await pause(retryMs, signal).catch(() => undefined)
  }
}

/** The events of one connection, until it ends, breaks or falls silent. */
async function* readConnection(
  { wallet, signal, ...service }: StreamOptions,
  lastEventId: string | undefined,
): AsyncGenerator<ServerSentEvent, void, undefined> {
  const own = new AbortController()
  const end = (): void => own.abort()
  signal?.addEventListener('abort', end, { once: true })
  let silence = setTimeout(end, silenceMs)
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
      yield* parse(chunk)
    }
  } finally {
    clearTimeout(silence)
    signal?.removeEventListener('abort', end)
    end()
  }
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
