import { type EventType, eventId } from '../events/event.js'
import { publicKeyText } from './sign-webhook.js'

/** Why an endpoint gets nothing. `void`: set up before the owner proved the e-mail, by who had changed it, or shortly before freezing. */
export type DisabledBy = 'creator' | 'operator' | 'gone' | 'failing' | 'void'
export type DeliveryState = 'pending' | 'delivered' | 'failed'

/** What became of an event at an endpoint. The last attempt has no answer while `triedAt` is null. */
export interface Delivery {
  readonly userId: string
  readonly sequence: bigint
  readonly type: EventType
  readonly state: DeliveryState
  readonly attempts: number
  readonly dueAt: Date | null
  readonly triedAt: Date | null
  readonly status: number | null
  readonly ms: number | null
  readonly answer: string | null
}

export interface Endpoint {
  readonly id: string
  readonly userId: string
  readonly url: string
  readonly description: string | null
  readonly types: readonly string[]
  readonly publicKey: Buffer
  readonly previousUntil: Date | null
  readonly createdAt: Date
  readonly disabled: DisabledBy | null
  readonly disabledAt: Date | null
  readonly cursor: bigint
  readonly failingSince: Date | null
  readonly last: Delivery | null
}

/** Columns of `webhook_endpoints` as e. */
export const endpointColumns = /* sql */ `
  e.id, e.user_id as "userId", e.url, e.description, e.types, e.public_key as "publicKey", e.created_at as "createdAt",
  case when e.previous_until > now() then e.previous_until end as "previousUntil",
  e.disabled, e.disabled_at as "disabledAt", e.cursor, e.failing_since as "failingSince"`

/** Columns of `webhook_deliveries` as d and its event as v. */
export const deliveryColumns = /* sql */ `
  d.user_id as "userId", d.sequence, v.type, d.state, d.attempts, d.due_at as "dueAt", d.tried_at as "triedAt",
  d.status, d.ms, d.answer`

export function presentEndpoint(endpoint: Endpoint) {
  const { id, url, description, types, disabled, last } = endpoint
  return {
    id,
    url,
    description,
    types: [...types],
    status: disabled === null ? ('active' as const) : ('disabled' as const),
    disabledBy: disabled,
    disabledAt: endpoint.disabledAt?.toISOString() ?? null,
    failingSince: endpoint.failingSince?.toISOString() ?? null,
    publicKey: publicKeyText(endpoint.publicKey),
    previousSecretUntil: endpoint.previousUntil?.toISOString() ?? null,
    createdAt: endpoint.createdAt.toISOString(),
    lastDelivery: last === null ? null : presentDelivery(last),
  }
}

export function presentDelivery(delivery: Delivery) {
  const { sequence, type, state, attempts, status, ms, answer } = delivery
  return {
    event: eventId(delivery),
    sequence: Number(sequence),
    type,
    state,
    attempts,
    status,
    durationMs: ms,
    answer,
    triedAt: delivery.triedAt?.toISOString() ?? null,
    nextAttemptAt: delivery.dueAt?.toISOString() ?? null,
  }
}
