import type { Knex } from 'knex'
import { query } from '../platform/database/database.js'
import { type EventType, eventColumns, type StoredEvent } from './event.js'

/** Events in one read. */
export const eventPageSize = 100

/** A creator's events after a sequence number, oldest first. `types`: only these; an empty list: all. */
export function readEvents(
  db: Knex,
  userId: string,
  { after, types, limit = eventPageSize }: {
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

/** The sequence number of a creator's newest event; 0 when there is none. */
export async function newestSequence(db: Knex, userId: string): Promise<number> {
  const [row] = await query<{ last: bigint }>(db, {
    name: 'events.newest',
    text: 'select last_sequence as last from event_counters where user_id = $1',
    values: [userId],
  })
  return Number(row?.last ?? 0n)
}
