import { ask, type Service } from './ask.js'
import { TippingError } from './errors.js'
import { pause } from './pause.js'

export interface BackendOptions extends Service {
  /** Secret: for a backend only, never for a page. */
  readonly apiKey: string
}

export interface InitRequest {
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

/** A confirmed tip. */
export interface TipCompleted {
  readonly eventId: string
  readonly type: 'tip_completed'
  /** Display units of a tip in USDC, else 0. */
  readonly amountUsdc: number
  /** Base units of the token. */
  readonly amountRaw: number
  readonly receivedAmount: number
  readonly tokenSymbol: string
  readonly sender: string
  /** ISO 8601, strictly increasing for a creator: where to go on from. */
  readonly timestamp: string
  readonly txSignature: string
}

export interface EventsRequest {
  readonly creatorId: string
  /** The `timestamp` of the last event that was processed; without it from the very first. */
  readonly since?: string
  /** Keeps asking, this long after each answer that brought nothing; without it the iterator ends there. */
  readonly pollMs?: number
  readonly signal?: AbortSignal
}

export interface BackendClient {
  /** Opens a session for one embed or page. */
  init(request: InitRequest): Promise<SdkInit>
  /**
   * Confirmed tips, oldest first, each exactly once: store the `timestamp` of what was processed and give it as `since`
   * the next time. While it polls, failures that may pass are sat out. Ends when `signal` is aborted.
   */
  events(request: EventsRequest): AsyncGenerator<TipCompleted, void, undefined>
}

/** What the service answers at most at once. */
const pageSize = 50

/** The service as a creator's backend uses it. */
export function createBackendClient({ apiKey, ...service }: BackendOptions): BackendClient {
  function page(
    { creatorId, signal }: EventsRequest,
    span: { since: string | undefined; before: string | undefined },
  ): Promise<TipCompleted[]> {
    const query = new URLSearchParams({ creatorId })
    for (const [name, value] of Object.entries(span)) if (value !== undefined) query.set(name, value)
    return ask<{ events: TipCompleted[] }>(service, 'GET', `/sdk/events?${query}`, {
      bearer: apiKey,
      signal,
    }).then(({ events }) => events)
  }

  /** Everything after a moment, oldest first: the service answers the newest, so it is paged backwards. */
  async function after(request: EventsRequest, since: string | undefined): Promise<TipCompleted[]> {
    const found: TipCompleted[] = []
    for (let before: string | undefined; ; before = found.at(-1)?.timestamp) {
      const events = await page(request, { since, before })
      found.push(...events)
      if (events.length < pageSize) return found.reverse()
    }
  }

  return {
    async init({ creatorId, originUrl, theme }) {
      const body = { creatorId, originUrl, ...(theme === undefined ? {} : { theme }) }
      const { sessionToken, config } = await ask<SdkInit>(service, 'POST', '/sdk/init', {
        bearer: apiKey,
        body,
      })
      return { sessionToken, config }
    },
    async *events(request) {
      const { pollMs, signal } = request
      let since = request.since
      while (signal?.aborted !== true) {
        const events = await after(request, since).catch((error: unknown) => satOut(error, request))
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

/** Nothing this time, for a failure that may pass while there is a next time. Throws any other. */
function satOut(error: unknown, { pollMs, signal }: EventsRequest): TipCompleted[] {
  const passing = pollMs !== undefined && error instanceof TippingError && error.temporary
  if (passing || signal?.aborted === true) return []
  throw error
}
