import type { Knex } from 'knex'
import { eventColumns, type StoredEvent } from '../events/event.js'
import { query } from '../platform/database/database.js'

/** Deliveries of one page. All of a crashed dispatcher's page that it had sent are sent again, with the same ids. */
export const pageSize = 50
/** Longer than a page takes: each attempt ends after 15 s, and none begins after `sliceMs` (dispatch.ts). */
const leaseSeconds = 40
/** Endpoints of one statement, and the events that each moves on by. */
const mostEndpoints = 200
const mostEvents = 500

/** An endpoint that a dispatcher has taken. `attempts` is the fence. */
export interface TakenEndpoint {
  readonly id: string
  readonly attempts: number
  readonly url: string
  readonly failures: number
  /** It fails or is slow. */
  readonly late: boolean
  readonly sealedSecret: Buffer
  readonly sealedPrevious: Buffer | null
  readonly sealedKey: Buffer
}

/** When an endpoint may be taken for what became due now; of one that is taken `more` says it. */
export const dueNow = /* sql */ `
  due_at = case when e.working then e.due_at else least(e.due_at, greatest(now(), e.paused_until)) end, more = e.working`

/**
 * Makes deliveries of new events: moves each active endpoint's cursor to its creator's last event. `recentSeconds`: only of creators
 * who had an event since then; null: of all. Locks in the order of ids. Returns how many endpoints have moved.
 */
export async function fanOut(db: Knex, recentSeconds: number | null): Promise<number> {
  const [row] = await query<{ moved: number }>(db, {
    name: recentSeconds === null ? 'webhooks.fan-out-all' : 'webhooks.fan-out',
    text: /* sql */ `
      with behind as materialized (
        select e.id, e.cursor as after, least(c.last_sequence, e.cursor + ${mostEvents}) as until
        from event_counters c join webhook_endpoints e on e.user_id = c.user_id
        where e.disabled is null and e.cursor < c.last_sequence
          ${recentSeconds === null ? '' : `and c.last_at > now() - interval '${recentSeconds} s'`}
        order by e.id limit ${mostEndpoints} for update of e
      ), made as (
        insert into webhook_deliveries (endpoint_id, user_id, sequence, event_at, due_at)
        select e.id, e.user_id, v.sequence, v.recorded_at, now()
        from behind b join webhook_endpoints e on e.id = b.id
          join events v on v.user_id = e.user_id and v.sequence > b.after and v.sequence <= b.until
        where case when v.type = 'ping' then v.subject = e.id::text else cardinality(e.types) = 0 or v.type = any(e.types) end
        on conflict do nothing
        returning endpoint_id
      ), moved as (
        update webhook_endpoints e set cursor = b.until from behind b
        where e.id = b.id and not exists (select from made m where m.endpoint_id = e.id) returning 1
      ), due as (
        update webhook_endpoints e set cursor = b.until, ${dueNow} from behind b
        where e.id = b.id and exists (select from made m where m.endpoint_id = e.id) returning 1
      )
      select ((select count(*) from moved) + (select count(*) from due))::int as moved`,
    values: [],
  })
  return row?.moved ?? 0
}

/** Fails, or answers so slowly that the slots of others would be held. */
const isLate = 'failures > 0 or slow'
const slowMs = 5000

/** Takes the endpoints that have been due longest: at most so many that answer in time, and so many that are late. */
export function takeEndpoints(db: Knex, most: number, mostLate: number): Promise<TakenEndpoint[]> {
  return query<TakenEndpoint>(db, {
    name: 'webhooks.take',
    text: /* sql */ `
      update webhook_endpoints t set due_at = clock_timestamp() + interval '${leaseSeconds} s', attempts = attempts + 1,
        working = true, more = false
      where id = any(
        array(select id from webhook_endpoints where due_at <= now() and not (${isLate})
          order by due_at limit $1 for update skip locked)
        || array(select id from webhook_endpoints where due_at <= now() and (${isLate})
          order by due_at limit $2 for update skip locked))
      returning t.id, t.attempts, t.url, t.failures, ${isLate} as late, t.sealed_secret as "sealedSecret", t.sealed_key as "sealedKey",
        case when t.previous_until > now() then t.sealed_previous end as "sealedPrevious"`,
    values: [most, mostLate],
  })
}

/** A delivery that is due, with its event. */
export interface DueDelivery extends StoredEvent {
  /** Failed attempts since it was queued. */
  readonly tries: number
  readonly traceparent: string | null
}

/** The deliveries of an endpoint that have been due longest; of those that came together in the order of events. */
export function readDuePage(db: Knex, endpointId: string): Promise<DueDelivery[]> {
  return query<DueDelivery>(db, {
    name: 'webhooks.page',
    text: /* sql */ `
      select ${eventColumns}, e.traceparent, d.tries
      from webhook_deliveries d
        join events e on e.user_id = d.user_id and e.sequence = d.sequence and e.recorded_at = d.event_at
      where d.endpoint_id = $1 and d.state = 'pending' and d.due_at <= now()
      order by d.due_at, d.sequence limit ${pageSize}`,
    values: [endpointId],
  })
}

/** What became of a delivery. `dueInMs`: until its next attempt; null: there is none. */
export interface Result {
  readonly sequence: bigint
  readonly ok: boolean
  readonly status: number | null
  readonly ms: number
  readonly answer: string
  readonly dueInMs: number | null
}

/**
 * Writes what became of a page, if the endpoint is still ours, and gives it back or, if `goOn` and more is due, keeps it. Returns
 * whether it is kept. `restMs`: after a page with failures only; nothing is sent before.
 */
export async function settlePage(
  db: Knex,
  { id, attempts }: Pick<TakenEndpoint, 'id' | 'attempts'>,
  results: readonly Result[],
  { full, goOn, restMs }: { readonly full: boolean; readonly goOn: boolean; readonly restMs: number | null },
): Promise<boolean> {
  const last = results.at(-1)
  const failed = results.findLast(({ ok }) => !ok)
  const [row] = await query<{ working: boolean }>(db, {
    name: 'webhooks.settle',
    text: /* sql */ `
      with result as (
        select * from unnest($3::bigint[], $4::boolean[], $5::int[], $6::int[], $7::text[], $8::float8[])
          as r (sequence, ok, status, ms, answer, due_in_ms)
      ), ours as materialized (
        select id from webhook_endpoints where id = $1 and attempts = $2 for update
      ), done as (
        update webhook_deliveries d set attempts = d.attempts + 1, tries = d.tries + 1, tried_at = clock_timestamp(),
          status = r.status, ms = r.ms, answer = r.answer,
          state = case when r.ok then 'delivered' when r.due_in_ms is null then 'failed' else 'pending' end,
          due_at = clock_timestamp() + r.due_in_ms * interval '1 ms'
        from result r, ours o where d.endpoint_id = o.id and d.sequence = r.sequence
        returning d.due_at
      ), later as (
        select min(due_at) as at from (
          select due_at from done
          union all
          (select d.due_at from webhook_deliveries d
            where d.endpoint_id = $1 and d.state = 'pending' and d.sequence <> all($3::bigint[]) order by d.due_at limit 1)) a
      ), state as (
        select later.at, $11::float8 is not null as failed, now() + $11::float8 * interval '1 ms' as rested,
          $12::boolean as gone, $13::boolean as succeeded from later
      )
      update webhook_endpoints e set
        working = e.disabled is null and not s.gone and $10 and not s.failed and (e.more or $9), more = false,
        due_at = case
          when e.disabled is not null or s.gone then null
          when $10 and not s.failed and (e.more or $9) then clock_timestamp() + interval '${leaseSeconds} s'
          when e.more or $9 then greatest(now(), s.rested)
          when s.at is null then null
          else greatest(s.at, s.rested) end,
        paused_until = s.rested,
        disabled = case when s.gone then coalesce(e.disabled, 'gone') else e.disabled end,
        disabled_at = case when s.gone then coalesce(e.disabled_at, now()) else e.disabled_at end,
        failures = case when s.succeeded then 0 when s.failed then e.failures + 1 else e.failures end,
        failing_since = case when s.succeeded then null when s.failed then coalesce(e.failing_since, now()) else e.failing_since end,
        slow = coalesce($16, e.slow), told = case when s.succeeded then null else e.told end,
        tried = coalesce($14, e.tried), last_error = case when s.succeeded then null else coalesce($15, e.last_error) end
      from ours o, state s where e.id = o.id
      returning e.working`,
    values: [
      id,
      attempts,
      results.map(({ sequence }) => sequence),
      results.map(({ ok }) => ok),
      results.map(({ status }) => status),
      results.map(({ ms }) => ms),
      results.map(({ answer }) => answer),
      results.map(({ dueInMs }) => dueInMs),
      full,
      goOn,
      restMs,
      results.some(({ status }) => status === 410),
      results.some(({ ok }) => ok),
      last?.sequence ?? null,
      failed === undefined ? null : `${failed.status ?? ''} ${failed.answer}`.trim().slice(0, 200),
      last === undefined ? null : results.some(({ ms }) => ms >= slowMs),
    ],
  })
  return row?.working === true
}
