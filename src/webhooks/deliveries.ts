import type { Knex } from 'knex'
import { pageOf } from '../http/paging.js'
import { DomainError } from '../kernel/errors.js'
import { query } from '../platform/database/database.js'
import type { Partition } from '../platform/database/partitions.js'
import type { UnitOfWork } from '../platform/database/transact.js'
import type { Services } from '../services.js'
import { type Delivery, type DeliveryState, deliveryColumns } from './endpoint.js'
import { findEndpoint, makeEndpointDue } from './manage-endpoints.js'

/** Deliveries are kept so long, and so are the events of the list. */
export const keptDays = 30
/** Rows of one run of the clean-up. */
const mostDeleted = 5000
/** Events that one request sends again. */
const mostRedelivered = 10_000

/** The deliveries of an endpoint, newest event first. Throws `webhook_not_found`. */
export async function listDeliveries(
  db: Knex,
  userId: string,
  {
    id,
    state,
    cursor,
    limit,
  }: {
    readonly id: string
    readonly state?: DeliveryState | undefined
    readonly cursor?: string | undefined
    readonly limit: number
  },
): Promise<{ readonly deliveries: readonly Delivery[]; readonly next: string | undefined }> {
  await findEndpoint(db, userId, id)
  const rows = await query<Delivery>(db, {
    name: 'webhooks.deliveries',
    text: /* sql */ `
      select ${deliveryColumns} from webhook_deliveries d
        join events v on v.user_id = d.user_id and v.sequence = d.sequence and v.recorded_at = d.event_at
      where d.endpoint_id = $1 and ($2::text is null or d.state = $2) and ($3::bigint is null or d.sequence < $3)
      order by d.sequence desc limit $4`,
    values: [id, state ?? null, cursor ?? null, limit + 1],
  })
  const { page, last } = pageOf(rows, limit)
  return { deliveries: page, next: last && String(last.sequence) }
}

/** Which events are sent again: a range of sequence numbers, or what has failed, for good or so far. */
export type Redelivery = { readonly from: number; readonly to: number } | { readonly failed: true }

/**
 * Sends events again, at most ten thousand, oldest first; of a range those that the endpoint takes. Returns how many. Throws
 * `webhook_not_found`, `webhook_disabled`, and `event_not_found` when there is none in the range.
 */
export async function redeliver(
  uow: Pick<UnitOfWork, 'trx' | 'wake'>,
  userId: string,
  id: string,
  which: Redelivery,
): Promise<number> {
  const { disabled } = await findEndpoint(uow.trx, userId, id)
  if (disabled !== null) throw new DomainError('webhook_disabled')
  // Locks the endpoint before its deliveries, as a dispatcher does.
  await makeEndpointDue(uow, id)
  if ('failed' in which) return queueFailed(uow.trx, id)
  const queued = await queueRange(uow.trx, id, which)
  if (queued === 0) throw new DomainError('event_not_found')
  return queued
}

async function queueFailed(trx: Knex, id: string): Promise<number> {
  const rows = await query(trx, {
    name: 'webhooks.redeliver-failed',
    text: /* sql */ `
      update webhook_deliveries set state = 'pending', due_at = now(), tries = 0, created_at = now()
      where endpoint_id = $1 and sequence = any(array(
        select sequence from webhook_deliveries where endpoint_id = $1 and (state = 'failed' or (state = 'pending' and tries > 0))
        order by sequence limit ${mostRedelivered} for update))
      returning 1`,
    values: [id],
  })
  return rows.length
}

/** One event is sent whatever its type: its creator has named it. */
async function queueRange(
  trx: Knex,
  id: string,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<number> {
  const rows = await query(trx, {
    name: 'webhooks.redeliver',
    text: /* sql */ `
      insert into webhook_deliveries as d (endpoint_id, user_id, sequence, event_at, due_at)
      select e.id, e.user_id, v.sequence, v.recorded_at, now()
      from webhook_endpoints e join events v on v.user_id = e.user_id and v.sequence between $2 and $3
      where e.id = $1 and case when v.type = 'ping' then v.subject = e.id::text
        else $2 = $3 or cardinality(e.types) = 0 or v.type = any(e.types) end
      order by v.sequence limit ${mostRedelivered}
      on conflict (endpoint_id, sequence) do update set state = 'pending', due_at = now(), tries = 0, created_at = now()
      returning 1`,
    values: [id, from, to],
  })
  return rows.length
}

/** Deletes what became of events long ago. */
export async function deleteOldDeliveries({ db, log }: Pick<Services, 'db' | 'log'>): Promise<void> {
  const deleted = await query(db, {
    name: 'webhooks.delete-old',
    text: /* sql */ `
      delete from webhook_deliveries where (endpoint_id, sequence) in (
        select endpoint_id, sequence from webhook_deliveries where created_at < now() - $2::int * interval '1 day'
         limit $1 for update skip locked)
      returning 1`,
    values: [mostDeleted, keptDays],
  })
  if (deleted.length > 0) log.info({ rows: deleted.length }, 'deleted old deliveries of webhooks')
}

/** How many deliveries, of which failed ones may be asked for again, and enabled endpoints still need events of this month. */
export async function countNeeds(db: Knex, { name }: Pick<Partition, 'name'>): Promise<number> {
  const { rows } = await db.raw<{ rows: { needs: number }[] }>(
    /* sql */ `
      select ((select count(*) from (
            select user_id, sequence, event_at from webhook_deliveries where state = 'pending'
            union all select user_id, sequence, event_at from webhook_deliveries where state = 'failed') d
          join partitions.:name: v on v.user_id = d.user_id and v.sequence = d.sequence and v.recorded_at = d.event_at)
        + (select count(*) from webhook_endpoints e where e.disabled is null
          and exists (select from partitions.:name: v where v.user_id = e.user_id and v.sequence > e.cursor)))::int as needs`,
    { name },
  )
  return rows[0]?.needs ?? 0
}
