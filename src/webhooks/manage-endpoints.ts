import { randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { notifyOwner, type Origin } from '../accounts/notify-owner.js'
import { lockCreator } from '../creators/find-creator.js'
import type { DescribeSubjects } from '../events/event.js'
import { newestSequence } from '../events/read-events.js'
import { recordEvent } from '../events/record-event.js'
import { DomainError, inputError } from '../kernel/errors.js'
import { query, write } from '../platform/database/database.js'
import type { UnitOfWork } from '../platform/database/transact.js'
import type { Services } from '../services.js'
import {
  type Delivery,
  type DisabledBy,
  deliveryColumns,
  type Endpoint,
  endpointColumns,
} from './endpoint.js'
import { dueNow } from './endpoint-queue.js'
import { webhookNotice } from './mails.js'
import type { EndpointChange, NewEndpoint } from './schemas.js'
import { newWebhookKey, newWebhookSecret } from './sign-webhook.js'
import { parseTarget, type Reach, resolveTarget, TargetRefused } from './target.js'

type Needs = Pick<Services, 'transact' | 'config'>

/** API: the endpoints of one creator. */
const mostEndpoints = 10
const rotationHours = 24

/** The URL in its normal form. Throws `invalid_webhook_url` unless all addresses of its name are public. */
export async function checkUrl(text: string, reach: Reach): Promise<string> {
  try {
    const url = parseTarget(text, reach)
    await resolveTarget(url, reach)
    url.hash = ''
    return url.href
  } catch (error) {
    if (error instanceof TargetRefused) throw inputError('invalid_webhook_url', 'url', error.message)
    throw error
  }
}

/**
 * Creates an endpoint, has a ping sent to it, and tells the owner by mail. Returns its secret, which is shown this once. Throws
 * `too_many_webhooks` when the creator has ten, also under concurrent requests.
 */
export async function createEndpoint(
  { transact, config }: Needs,
  userId: string,
  { url, description, types }: NewEndpoint,
  origin?: Origin,
): Promise<{ readonly endpoint: Endpoint; readonly secret: string }> {
  const id = randomUUID()
  const secret = newWebhookSecret(config, id)
  const key = newWebhookKey(config, id)
  const endpoint = await transact(async (uow) => {
    const { trx } = uow
    await lockCreator(trx, userId)
    const after = await newestSequence(trx, userId)
    const created = await query(trx, {
      name: 'webhooks.create',
      text: /* sql */ `
        insert into webhook_endpoints (id, user_id, url, description, types, sealed_secret, sealed_key, public_key, cursor)
        select $1, $2::uuid, $3, $4, $5, $6, $7, $8, $9
         where (select count(*) from webhook_endpoints where user_id = $2::uuid) < ${mostEndpoints}
        returning 1`,
      values: [id, userId, url, description ?? null, types, secret.sealed, key.sealed, key.publicKey, after],
    })
    if (created.length === 0) throw new DomainError('too_many_webhooks')
    recordEvent(uow, 'ping', id, describePings)
    await notifyOwner(uow, config.http.publicUrl, userId, webhookNotice('webhook-created', url), origin)
    return findEndpoint(trx, userId, id)
  })
  return { endpoint, secret: secret.text }
}

/** What a ping says. It is sent to its endpoint only. */
const describePings: DescribeSubjects = async (trx, ids) => {
  const rows = await query<{ id: string; userId: string }>(trx, {
    name: 'webhooks.describe-pings',
    text: 'select id, user_id as "userId" from webhook_endpoints where id = any($1::uuid[])',
    values: [ids],
  })
  return new Map(rows.map(({ id, userId }) => [id, { userId, data: { endpoint: id } }]))
}

/** A creator's endpoints, oldest first, each with its last delivery. */
export function listEndpoints(db: Knex, userId: string, id: string | null = null): Promise<Endpoint[]> {
  return query<Endpoint & { readonly last: Delivery | null }>(db, {
    name: 'webhooks.list',
    text: /* sql */ `
      select ${endpointColumns}, to_jsonb(l) as last
      from webhook_endpoints e left join lateral (
        select ${deliveryColumns} from webhook_deliveries d
          join events v on v.user_id = d.user_id and v.sequence = d.sequence and v.recorded_at = d.event_at
        where d.endpoint_id = e.id and d.sequence = e.tried) l on true
      where e.user_id = $1 and ($2::uuid is null or e.id = $2) order by e.created_at, e.id`,
    values: [userId, id],
  }).then((rows) => rows.map((row) => ({ ...row, last: row.last && lastFrom(row.last) })))
}

/** JSON has no times and no bigint. */
function lastFrom(last: Delivery): Delivery {
  const time = (value: Date | null): Date | null => (value === null ? null : new Date(value))
  return {
    ...last,
    sequence: BigInt(last.sequence),
    dueAt: time(last.dueAt),
    triedAt: time(last.triedAt),
  }
}

/** Throws `webhook_not_found`. */
export async function findEndpoint(db: Knex, userId: string, id: string): Promise<Endpoint> {
  const [endpoint] = await listEndpoints(db, userId, id)
  if (endpoint === undefined) throw new DomainError('webhook_not_found')
  return endpoint
}

/**
 * What an endpoint has not yet done at a new URL, or since it was enabled. A dispatcher that still sends finds another number of
 * attempts, and writes nothing.
 */
const asNew = /* sql */ `
  pointed_at = now(), failing_since = null, failures = 0, slow = false, paused_until = null, last_error = null,
  working = false, more = false, attempts = attempts + 1`

/**
 * Changes what is given. A new URL is told to the owner by mail: events then go elsewhere. Throws `webhook_not_found`, and
 * `webhook_disabled` when the creator enables what an operator has disabled.
 */
export function changeEndpoint(
  { transact, config }: Needs,
  userId: string,
  { id, url, description, types, status, replay }: EndpointChange,
  origin?: Origin,
): Promise<Endpoint> {
  return transact(async (uow) => {
    const { trx } = uow
    await lockCreator(trx, userId)
    const before = await findEndpoint(trx, userId, id)
    if (status === 'active' && before.disabled === 'operator') throw new DomainError('webhook_disabled')
    await write(trx, {
      name: 'webhooks.change',
      text: /* sql */ `
        update webhook_endpoints set types = coalesce($2, types), description = case when $3 then $4 else description end
        where id = $1`,
      values: [id, types ?? null, description !== undefined, description ?? null],
    })
    if (url !== undefined && url !== before.url) {
      await pointEndpoint(uow, id, url)
      await notifyOwner(uow, config.http.publicUrl, userId, webhookNotice('webhook-moved', url), origin)
    }
    if (status === 'disabled') await disableEndpoint(uow, id, 'creator')
    if (status === 'active') await enableEndpoint(uow, before, replay)
    return findEndpoint(trx, userId, id)
  })
}

/** Sends what waits to another URL. One that is disabled stays so. */
async function pointEndpoint(
  { trx, wake }: Pick<UnitOfWork, 'trx' | 'wake'>,
  id: string,
  url: string,
): Promise<void> {
  await write(trx, {
    name: 'webhooks.point',
    text: /* sql */ `
      update webhook_endpoints set url = $2, ${asNew}, told = case when disabled is not null then told end,
        due_at = case when disabled is null then now() end
      where id = $1`,
    values: [id, url],
  })
  wake('dispatcher')
}

/**
 * Sends nothing more to an endpoint. Events go on being recorded. One that is disabled stays as it is, but that its creator cannot
 * enable again what an operator disables.
 */
export async function disableEndpoint(
  { trx }: Pick<UnitOfWork, 'trx'>,
  id: string,
  by: DisabledBy,
): Promise<void> {
  await write(trx, {
    name: 'webhooks.disable',
    text: /* sql */ `
      update webhook_endpoints set disabled = $2, disabled_at = now(), due_at = null
      where id = $1 and (disabled is null or ($2 = 'operator' and disabled <> $2))`,
    values: [id, by],
  })
}

/**
 * Sends to an endpoint again. `replay`: also what waits and every event since; otherwise what waits counts as failed, and only new
 * events are sent. One that is active stays as it is.
 */
export async function enableEndpoint(
  { trx, wake }: Pick<UnitOfWork, 'trx' | 'wake'>,
  { id, userId, disabled }: Pick<Endpoint, 'id' | 'userId' | 'disabled'>,
  replay: boolean,
): Promise<void> {
  if (disabled === null) return
  const enabled = await query(trx, {
    name: 'webhooks.enable',
    text: /* sql */ `
      update webhook_endpoints e set disabled = null, disabled_at = null, told = null, ${asNew},
        due_at = case when $2 then (select min(due_at) from webhook_deliveries where endpoint_id = e.id and state = 'pending') end,
        cursor = greatest(cursor, $3)
      where id = $1 and disabled = $4 returning 1`,
    values: [id, replay, replay ? 0 : await newestSequence(trx, userId), disabled],
  })
  // An operator may have disabled it since it was read.
  if (enabled.length === 0) return
  if (!replay)
    await write(trx, {
      name: 'webhooks.skip',
      text: /* sql */ `
        update webhook_deliveries set state = 'failed', due_at = null where endpoint_id = $1 and state = 'pending'`,
      values: [id],
    })
  wake('dispatcher')
}

/** Makes a new secret, which is shown this once. The old one also signs for a day. Throws `webhook_not_found`. */
export async function rotateSecret({ transact, config }: Needs, userId: string, id: string) {
  const secret = newWebhookSecret(config, id)
  const endpoint = await transact(async ({ trx }) => {
    await write(trx, {
      name: 'webhooks.rotate',
      text: /* sql */ `
        update webhook_endpoints set sealed_previous = sealed_secret, sealed_secret = $3,
          previous_until = now() + interval '${rotationHours} hours'
        where id = $1 and user_id = $2`,
      values: [id, userId, secret.sealed],
    })
    return findEndpoint(trx, userId, id)
  })
  return { endpoint, secret: secret.text }
}

/** Records an event that only this endpoint gets. Throws `webhook_not_found`, `webhook_disabled`. */
export async function sendPing(
  { transact }: Pick<Services, 'transact'>,
  userId: string,
  id: string,
): Promise<void> {
  await transact(async (uow) => {
    const { disabled } = await findEndpoint(uow.trx, userId, id)
    if (disabled !== null) throw new DomainError('webhook_disabled')
    recordEvent(uow, 'ping', id, describePings)
  })
}

/** Deletes an endpoint and its deliveries. Throws `webhook_not_found`. */
export async function deleteEndpoint(
  { transact }: Pick<Services, 'transact'>,
  userId: string,
  id: string,
): Promise<void> {
  const deleted = await transact(({ trx }) =>
    query(trx, {
      name: 'webhooks.delete',
      text: 'delete from webhook_endpoints where id = $1 and user_id = $2 returning 1',
      values: [id, userId],
    }),
  )
  if (deleted.length === 0) throw new DomainError('webhook_not_found')
}

/** Deletes a creator's endpoints and their deliveries. */
export async function forgetWebhooks(trx: Knex.Transaction, userId: string): Promise<void> {
  await query(trx, {
    name: 'webhooks.forget',
    text: 'delete from webhook_endpoints where user_id = $1',
    values: [userId],
  })
}

/** Deliveries that were added are due now. */
export async function makeEndpointDue(
  { trx, wake }: Pick<UnitOfWork, 'trx' | 'wake'>,
  id: string,
): Promise<void> {
  await write(trx, {
    name: 'webhooks.make-due',
    text: `update webhook_endpoints e set ${dueNow} where id = $1`,
    values: [id],
  })
  wake('dispatcher')
}
