import type { Knex } from 'knex'
import { eventText } from '../http/sse.js'
import { query } from '../platform/database/database.js'
import { type EventType, eventChannel, eventColumns, presentEvent, type StoredEvent } from './event.js'
import { type Position, pagesOf, type StreamSource, streamPageSize } from './stream-hub.js'

/** Events in one read. */
const eventPageSize = 100

/** A creator's events after a sequence number, oldest first. `types`: only these; an empty list: all. */
export function readEvents(
  db: Knex,
  userId: string,
  {
    after,
    types,
    limit = eventPageSize,
  }: {
    readonly after: number
    readonly types: readonly EventType[]
    readonly limit?: number
  },
): Promise<StoredEvent[]> {
  return query<StoredEvent>(db, {
    name: 'events.read',
    text: /* sql */ `
      select ${eventColumns} from events e
      where e.user_id = $1 and e.sequence > $2 and (cardinality($3::text[]) = 0 or e.type = any($3::text[]))
      order by e.sequence limit $4`,
    values: [userId, after, types, limit],
  })
}

/** Deletes a creator's log. What comes later begins a new one. */
export async function forgetEvents(trx: Knex.Transaction, userId: string): Promise<void> {
  await query(trx, {
    name: 'events.forget',
    text: 'with counter as (delete from event_counters where user_id = $1) delete from events where user_id = $1',
    values: [userId],
  })
}

/** The sequence number of a creator's newest event; 0 when there is none. */
export async function newestSequence(db: Knex, userId: string): Promise<number> {
  const [row] = await query<{ last: bigint }>(db, {
    name: 'events.newest',
    text: 'select last_sequence as last from event_counters where user_id = $1',
    values: [userId],
  })
  return Number(row?.last ?? 0n)
}

/** The log as a stream. The cursor is the sequence number. */
export const eventStream: StreamSource = {
  channel: eventChannel,
  async readAfter(db, reads) {
    const rows = await query<StoredEvent & { readonly place: number }>(db, {
      name: 'events.after',
      text: /* sql */ `
        select ${eventColumns}, c.place::int as place
        from unnest($1::uuid[], $2::bigint[]) with ordinality as c(user_id, after, place)
        cross join lateral (
          select * from events where user_id = c.user_id and sequence > c.after order by sequence limit ${streamPageSize}) e
        order by c.place, e.sequence`,
      values: [reads.map(({ key }) => key), reads.map(({ cursor }) => cursor)],
    })
    return pagesOf(reads, rows, (row) => {
      const shown = presentEvent(row)
      return { cursor: shown.sequence, type: row.type, text: eventText(shown, shown.sequence) }
    })
  },
  movedWithin(db, ms) {
    return query<Position>(db, {
      name: 'events.recent',
      text: /* sql */ `
        select user_id as key, last_sequence::float8 as cursor from event_counters
        where last_at > now() - $1::float8 * interval '1 ms'`,
      values: [ms],
    })
  },
}
