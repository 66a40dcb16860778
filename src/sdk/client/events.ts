import { TippingError } from './errors.js'
import { requestJson, type Service } from './request.js'
import { createBackoff, pause } from './wait.js'

/** An integrator’s own name for a payment, such as an order number, and what they keep with it. */
export interface OwnReference {
  /** One line of at most 64 characters. It need not be unique. */
  readonly reference?: string
  /** At most 20 keys and 2,048 bytes of JSON. */
  readonly metadata?: Readonly<Record<string, string | number | boolean>>
}

/** A tip, as its creator’s list shows it. */
export interface EventTip extends OwnReference {
  /** Of its transaction; of a naira tip the intent’s id. */
  readonly signature: string
  readonly recipient: string
  readonly recipient_id: string | null
  readonly sender: string
  /** The name that a crypto supporter gave. */
  readonly senderName?: string
  readonly sender_id: string | null
  /** Units of the token; of a naira tip (`FIAT`) US dollars. */
  readonly amount: number
  /** What the creator received, after the platform’s fee. */
  readonly receivedAmount: number | null
  readonly tokenSymbol: string
  readonly message: string | null
  readonly timestamp: string
  readonly status: 'pending' | 'confirmed' | 'failed' | 'cancelled'
  /** At the last known price; 0 without one. */
  readonly valueUsd: number
  readonly isStable: boolean
  readonly fiatDetails: {
    readonly platformFee: number
    readonly finalAmountUsd: number
    readonly amountNgn: number
  } | null
  readonly refundedAmount?: number
  readonly disputed?: boolean
  /** Of a disputed tip: until then its creator can tell the operator what it was for. */
  readonly replyBy?: string
}

export interface EventWithdrawal {
  readonly reference: string
  readonly status: string
  readonly currency: string
  readonly amountNGN: number
  readonly systemFeeNGN: number
  readonly amountUSDC: number
  readonly bankCode: string
  /** Masked. */
  readonly accountNumber: string
  readonly heldFor: 'identity' | 'confirmation' | 'dispute' | 'breaker' | null
  readonly failureReason: string | null
  readonly createdAt: string
}

export interface EventDispute {
  readonly dispute: string
  /** `signature` of the tip. */
  readonly tip: string
  readonly state: string
  readonly amountNGN: number
  readonly category: string | null
  readonly openedAt: string
  readonly answerBy: string
  readonly endedAt: string | null
}

export interface EventBalance {
  readonly availableUSDC: number
  readonly pendingUSDC: number
  readonly heldUSDC: number
}

interface EventOf<Type extends string, Data> {
  /** The same for every reader, and the `webhook-id` of a webhook. */
  readonly id: string
  readonly type: Type
  readonly timestamp: string
  /** Without holes in the creator’s log. */
  readonly sequence: number
  readonly data: Data
}

/** An event of the creator’s log. A newer service may have more types: skip those you do not know. */
export type TippingEvent =
  | EventOf<
      | `tip.${'confirmed' | 'final' | 'failed' | 'refunded'}`
      | `naira.${'completed' | 'failed' | 'cancelled'}`,
      EventTip
    >
  | EventOf<`withdrawal.${'held' | 'submitted' | 'completed' | 'failed' | 'returned'}`, EventWithdrawal>
  | EventOf<`dispute.${'opened' | 'closed'}`, EventDispute>
  | EventOf<'balance.available', EventBalance>
  | EventOf<'ping', Readonly<Record<string, unknown>>>

export interface EventsRequest {
  /** The `sequence` of the last processed event. Without it the events start with the first one. */
  readonly after?: number
  /** Only these. Without it all. `tip.*` means all that begin with `tip.`. */
  readonly types?: readonly (TippingEvent['type'] | `${'tip' | 'naira' | 'withdrawal' | 'dispute'}.*`)[]
  /** Ends the events. */
  readonly signal?: AbortSignal
}

interface Page {
  readonly events: readonly TippingEvent[]
  readonly after: number
  readonly hasMore: boolean
}

/** The service keeps a request so long when there is no event. */
const waitSeconds = 30

/** The events of the API key’s owner. After a temporary failure it goes on after the last event that it gave. */
export async function* readEvents(
  service: Service,
  bearer: string,
  { after = 0, types = [], signal }: EventsRequest,
): AsyncGenerator<TippingEvent, void, undefined> {
  const backoff = createBackoff()
  let last = after
  while (signal?.aborted !== true) {
    const query = new URLSearchParams({ after: String(last), wait: String(waitSeconds) })
    if (types.length > 0) query.set('types', types.join())
    const page = await requestJson<Page>(service, 'GET', `/creators/events?${query}`, {
      bearer,
      signal,
      waitMs: waitSeconds * 1000,
    }).then(
      (answer) => {
        backoff.reset()
        return answer
      },
      (error: unknown) => {
        if (signal?.aborted === true || (error instanceof TippingError && error.temporary))
          return { events: [], after: last, hasMore: false }
        throw error
      },
    )
    for (const event of page.events) {
      yield event
      last = event.sequence
    }
    // Events of other types were looked at too.
    last = Math.max(last, page.after)
    // A process that stops answers at once.
    if (page.events.length === 0 && !page.hasMore)
      await pause(backoff.nextMs(), signal).catch(() => undefined)
  }
}
