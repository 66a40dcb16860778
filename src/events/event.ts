import type { Knex } from 'knex'
import type { Origin } from '../kernel/trace-context.js'

/** Every type of event. A new one is a name here and a call of `recordEvent` where it happens. */
export const eventTypes = [
  'tip.confirmed',
  'tip.final',
  'tip.failed',
  'tip.refunded',
  'naira.completed',
  'naira.failed',
  'naira.cancelled',
  'withdrawal.held',
  'withdrawal.submitted',
  'withdrawal.completed',
  'withdrawal.failed',
  'withdrawal.returned',
  'dispute.opened',
  'dispute.closed',
  'balance.available',
  'ping',
] as const
export type EventType = (typeof eventTypes)[number]

/** Whose event it is, and what it says. */
export interface EventContent {
  readonly userId: string
  readonly data: Readonly<Record<string, unknown>>
  /** Of what it is about. */
  readonly origin?: Origin
}

/**
 * Reads what events of one kind of subject say, at the end of the transaction that causes them. A subject that is nobody's, such as a tip
 * to an unregistered wallet, is left out.
 */
export type DescribeSubjects = (
  trx: Knex,
  subjects: readonly string[],
) => Promise<ReadonlyMap<string, EventContent>>

/** A row of `events`. */
export interface StoredEvent {
  readonly userId: string
  readonly sequence: bigint
  readonly type: EventType
  readonly subject: string
  readonly data: Record<string, unknown>
  readonly recordedAt: Date
}

export const eventColumns = /* sql */ `
  e.user_id as "userId", e.sequence, e.type, e.subject, e.data, e.recorded_at as "recordedAt"`

/** The channel that notifies readers of new events of a creator. */
export const eventChannel = (userId: string): string => `events.${userId}`

/** The id of an event, the same for every reader: a consumer that sees it twice has handled it. */
export function eventId({ userId, sequence }: Pick<StoredEvent, 'userId' | 'sequence'>): string {
  return `evt_${userId.replaceAll('-', '')}_${sequence}`
}

/** An event as the list, the stream and webhooks have it. The fields keep their order: webhooks sign this text. */
export function presentEvent(event: StoredEvent) {
  return {
    id: eventId(event),
    type: event.type,
    timestamp: event.recordedAt.toISOString(),
    sequence: Number(event.sequence),
    data: event.data,
  }
}
