import { contextOf, traceparentOf } from '../kernel/trace-context.js'
import { write } from '../platform/database/database.js'
import type { LastStep, UnitOfWork } from '../platform/database/transact.js'
import { type DescribeSubjects, type EventContent, type EventType, eventChannel } from './event.js'

interface NewEvent {
  readonly type: EventType
  readonly subject: string
  readonly describe: DescribeSubjects
}

/**
 * Records an event in the commit that causes it. What it says is read at the end of the transaction. The locks of the counters come last,
 * in one order, so that events never deadlock.
 */
export function recordEvent(
  uow: Pick<UnitOfWork, 'atEnd'>,
  type: EventType,
  subject: string,
  describe: DescribeSubjects,
): void {
  uow.atEnd(appendEvents, { type, subject, describe })
}

const appendEvents: LastStep<NewEvent> = async ({ trx, publish, wake }, events) => {
  const contents = new Map<DescribeSubjects, ReadonlyMap<string, EventContent>>()
  for (const describe of new Set(events.map((event) => event.describe))) {
    const subjects = events.filter((event) => event.describe === describe).map(({ subject }) => subject)
    contents.set(describe, await describe(trx, [...new Set(subjects)]))
  }
  const rows = events.flatMap(({ type, subject, describe }) => {
    const content = contents.get(describe)?.get(subject)
    return content === undefined ? [] : [{ type, subject, ...content }]
  })
  if (rows.length === 0) return
  await write(trx, {
    name: 'events.append',
    text: /* sql */ `
      with new as (
        select * from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[])
          with ordinality as n(user_id, type, subject, data, traceparent, place)
      ), counter as (
        insert into event_counters as c (user_id, last_sequence, last_at)
        select user_id, count(*), clock_timestamp() from new group by user_id order by user_id
        on conflict (user_id) do update set (last_sequence, last_at, last_before_month) = (
          select c.last_sequence + excluded.last_sequence, t.at,
            case when c.last_at < date_trunc('month', t.at, 'UTC') then c.last_sequence else c.last_before_month end
          from (select greatest(clock_timestamp()::timestamptz(3), c.last_at) as at offset 0) t)
        returning user_id, last_sequence, last_at
      )
      insert into events (user_id, sequence, type, subject, data, traceparent, recorded_at)
      select n.user_id, c.last_sequence + 1 - row_number() over (partition by n.user_id order by n.place desc),
        n.type, n.subject, n.data::json, n.traceparent, c.last_at
      from new n join counter c using (user_id)`,
    values: [
      rows.map(({ userId }) => userId),
      rows.map(({ type }) => type),
      rows.map(({ subject }) => subject),
      rows.map(({ data }) => JSON.stringify(data)),
      rows.map(({ origin }) => {
        const context = origin && contextOf(origin)
        return context === undefined ? null : traceparentOf(context)
      }),
    ],
  })
  for (const userId of new Set(rows.map((row) => row.userId))) publish(eventChannel(userId))
  wake('dispatcher')
}
