import { TippingError } from './errors.js'
import { type EventsRequest, type OwnReference, readEvents, type TippingEvent } from './events.js'
import { requestJson, type Service } from './request.js'
import { pause } from './wait.js'

export interface BackendOptions extends Service {
  /** Secret: for a backend only, never for a page. */
  readonly apiKey: string
}

/** The reference and the metadata are those of every payment of the session. */
export interface InitRequest extends OwnReference {
  /** User id, wallet address or `.sol` domain of the API key's owner. */
  readonly creatorId: string
  /** The URL of the page that will embed the checkout; its site must be whitelisted. */
  readonly originUrl: string
  readonly theme?: 'dark' | 'light'
}

export interface SdkInit {
  readonly sessionToken: string
  readonly config: {
    readonly creatorId: string
    /** Masked. */
    readonly creatorAddress: string
    readonly acceptedTokens: readonly string[]
    /** For an iframe; holds the session token in its fragment. */
    readonly embedUrl: string
  }
}

/** The event of a confirmed tip. */
export interface TipCompleted extends OwnReference {
  readonly eventId: string
  readonly type: 'tip_completed'
  /** Display units of a tip in USDC, else 0. */
  readonly amountUsdc: number
  /** Base units of the token. */
  readonly amountRaw: number
  readonly receivedAmount: number
  readonly tokenSymbol: string
  readonly sender: string
  /** The name that a crypto supporter gave. */
  readonly senderName?: string
  /** ISO 8601, strictly increasing for each creator. Use it as `since` of the next request. */
  readonly timestamp: string
  readonly txSignature: string
}

export interface TipEventsRequest {
  readonly creatorId: string
  /** The `timestamp` of the last processed event. Without it the events start with the first tip. */
  readonly since?: string
  /** Poll again this long after an answer without events. Without it the iterator ends with the events that exist. */
  readonly pollMs?: number
  readonly signal?: AbortSignal
}

export interface BackendClient {
  /** Opens a session for one embed. */
  init(request: InitRequest): Promise<SdkInit>
  /**
   * Confirmed tips, oldest first, each exactly once. Store the `timestamp` of the last processed event and pass it as
   * `since` the next time. With `pollMs`, temporary failures are retried. Ends when `signal` is aborted.
   */
  tipEvents(request: TipEventsRequest): AsyncGenerator<TipCompleted, void, undefined>
  /**
   * Everything that happens to the creator’s money as it happens, oldest first, each event once. Store the `sequence` of the last processed
   * event and pass it as `after` the next time. Temporary failures are retried. Ends when `signal` is aborted.
   */
  events(request?: EventsRequest): AsyncGenerator<TippingEvent, void, undefined>
}

/** A client of the service for a creator's backend. */
export function createBackendClient({ apiKey, ...service }: BackendOptions): BackendClient {
  function page(
    { creatorId, signal }: TipEventsRequest,
    range: { since: string | undefined; before: string | undefined },
  ): Promise<{ events: TipCompleted[]; hasMore: boolean }> {
    const query = new URLSearchParams({ creatorId })
    for (const [name, value] of Object.entries(range)) if (value !== undefined) query.set(name, value)
    return requestJson(service, 'GET', `/sdk/events?${query}`, { bearer: apiKey, signal })
  }

  /** All events after `since`, oldest first. The service answers the newest first, so this pages backwards. */
  async function listAfter(request: TipEventsRequest, since: string | undefined): Promise<TipCompleted[]> {
    const found: TipCompleted[] = []
    for (let before: string | undefined; ; before = found.at(-1)?.timestamp) {
      const { events, hasMore } = await page(request, { since, before })
      found.push(...events)
      if (!hasMore) return found.reverse()
    }
  }

  return {
    async init(request) {
      const { sessionToken, config } = await requestJson<SdkInit>(service, 'POST', '/sdk/init', {
        bearer: apiKey,
        body: request,
      })
      return { sessionToken, config }
    },
    events: (request = {}) => readEvents(service, apiKey, request),
    async *tipEvents(request) {
      const { pollMs, signal } = request
      let since = request.since
      while (signal?.aborted !== true) {
        const events = await listAfter(request, since).catch((error: unknown) =>
          emptyIfTemporary(error, request),
        )
        for (const event of events) {
          yield event
          since = event.timestamp
        }
        if (pollMs === undefined) return
        if (events.length === 0) await pause(pollMs, signal).catch(() => undefined)
      }
    },
  }
}

/** Returns no events for a temporary failure while polling, or after an abort. Throws any other error. */
function emptyIfTemporary(error: unknown, { pollMs, signal }: TipEventsRequest): TipCompleted[] {
  const retried = pollMs !== undefined && error instanceof TippingError && error.temporary
  if (retried || signal?.aborted === true) return []
  throw error
}
