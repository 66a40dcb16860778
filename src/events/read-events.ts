import type { Knex } from 'knex'
import { eventText } from '../http/sse.js'
import { query } from '../platform/database/database.js'
import { queryInIndexOrder } from '../platform/database/index-order.js'
import { type EventType, eventChannel, eventColumns, presentEvent, type StoredEvent } from './event.js'
import { type Position, pagesOf, type StreamSource, streamPageSize } from './stream-hub.js'

/** Events in one read. */
const eventPageSize = 100

/** An event of one of several reads. `place`: which, from 1 on. */
type Placed = StoredEvent & { readonly place: number }

/** Events that one read by type looks at: no index has the type, and the next read goes on after them. */
const mostLooked = 10_000
// Both bounds are conditions of the index, whatever the plan.
const after = /* sql */ `sequence > r.after
  and sequence <= r.after + case when cardinality($3::text[]) = 0 then 1000000000000000 else ${mostLooked} end
  and (cardinality($3::text[]) = 0 or type = any($3::text[]))`

/**
 * The pages of several logs, each after a sequence number that is of this month or later; `older`: it is not. The month stands in the
 * text, so that the plan is that of its partition alone. A month by a wrong clock only makes reads `older`.
 */
const monthSql = (began: string, ends: string): string => /* sql */ `
  select ${eventColumns}, r.place::int as place, c.last_at < '${began}' or c.last_at >= '${ends}' or r.after < c.last_before_month as older
  from unnest($1::uuid[], $2::bigint[]) with ordinality as r(user_id, after, place)
  join event_counters c on c.user_id = r.user_id and c.last_sequence > r.after
  left join lateral (
    select * from events where user_id = r.user_id and ${after} and recorded_at >= '${began}' and recorded_at < '${ends}'
    order by sequence limit $4) e on c.last_at >= '${began}' and c.last_at < '${ends}' and r.after >= c.last_before_month
  order by r.place, e.sequence`

/** The events after each cursor, oldest first, at most `limit` each. Cursors from before this month are read one by one. */
async function readPages(
  db: Knex,
  reads: readonly Position[],
  types: readonly EventType[],
  limit: number,
): Promise<Placed[]> {
  const now = new Date()
  const [began = '', ends = ''] = [0, 1].map((months) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months)).toISOString(),
  )
  const rows = await query<Placed & { readonly older: boolean }>(db, {
    name: `events.read ${began.slice(0, 7)}`,
    text: monthSql(began, ends),
    values: [reads.map(({ key }) => key), reads.map(({ cursor }) => cursor), types, limit],
  })
  const pages: Placed[][] = [rows.filter(({ older, sequence }) => !older && sequence !== null)]
  for (const { place, older } of rows) {
    const read = reads[place - 1]
    if (older && read !== undefined) pages.push(await readAllMonths(db, read, place, types, limit))
  }
  return pages.flat()
}

/** As a page, from all partitions, in the order of their indexes: otherwise a busy creator's month may be read and sorted for each. */
function readAllMonths(
  db: Knex,
  { key, cursor }: Position,
  place: number,
  types: readonly EventType[],
  limit: number,
): Promise<Placed[]> {
  return queryInIndexOrder<Placed>(db, {
    name: 'events.read-all',
    text: /* sql */ `
      select ${eventColumns}, $5::int as place from events e, (select $2::bigint as after) r
      where e.user_id = $1 and ${after} order by e.sequence limit $4`,
    values: [key, cursor, types, limit, place],
  })
}

/** What a poll is answered. */
interface EventPage {
  readonly events: readonly StoredEvent[]
  /** Where the next one begins. */
  readonly after: number
  readonly hasMore: boolean
}

/** A page of a creator's events of these types, or of all. Without an event of them it may still have more. */
export async function readEventPage(
  db: Knex,
  userId: string,
  { after, types, limit }: { after: number; types: readonly EventType[]; limit: number },
): Promise<EventPage> {
  // Read first: the events up to it are committed.
  const newest = types.length === 0 ? after : await newestSequence(db, userId)
  const rows = await readEvents(db, userId, { after, types, limit: limit + 1 })
  const events = rows.slice(0, limit)
  if (types.length === 0 || rows.length > limit)
    return { events, after: Number(events.at(-1)?.sequence ?? after), hasMore: rows.length > limit }
  const looked = Math.max(after, Math.min(newest, after + mostLooked))
  // One that was committed since is shown now, and not again.
  return {
    events,
    after: Math.max(looked, Number(events.at(-1)?.sequence ?? after)),
    hasMore: looked < newest,
  }
}

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
  return readPages(db, [{ key: userId, cursor: after }], types, limit)
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
    const rows = await readPages(db, reads, [], streamPageSize)
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
