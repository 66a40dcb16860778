import { done, nothing } from '../accounts/schemas.js'
import { signedIn, whileOpen } from '../accounts/sessions/auth.js'
import { eventId } from '../events/event.js'
import { type Route, route } from '../http/endpoint.js'
import { cursorOf } from '../http/paging.js'
import { readCaller } from '../http/security/caller.js'
import { DomainError, inputError } from '../kernel/errors.js'
import type { Services } from '../services.js'
import { listDeliveries, type Redelivery, redeliver } from './deliveries.js'
import { presentDelivery, presentEndpoint } from './endpoint.js'
import {
  changeEndpoint,
  checkUrl,
  createEndpoint,
  deleteEndpoint,
  findEndpoint,
  listEndpoints,
  rotateSecret,
  sendPing,
} from './manage-endpoints.js'
import * as schemas from './schemas.js'
import { reachOf } from './target.js'

type Needs = Pick<Services, 'config' | 'db' | 'transact'>

/** What every change may answer besides its own errors. */
const ownerErrors = ['unauthorized', 'forbidden', 'account_frozen'] as const

/** `/creators/webhooks`: where a creator's events are sent. */
export function webhookRoutes(services: Needs): Route[] {
  return [...endpointRoutes(services), ...actRoutes(services), ...deliveryRoutes(services)]
}

function endpointRoutes(services: Needs): Route[] {
  const { publicUrl } = services.config.http
  const reach = reachOf(services.config)
  return [
    route(
      {
        method: 'post',
        path: '/creators/webhooks',
        summary: 'Make a webhook; its secret is shown this once, and a ping follows',
        credential: 'session',
        limit: 'intents',
        input: schemas.newEndpointInput,
        invalid: 'invalid_webhook_url',
        output: schemas.secretAnswer,
        errors: ['invalid_json', 'invalid_types', 'invalid_description', 'too_many_webhooks', ...ownerErrors],
      },
      async (input, ctx) => {
        const owner = signedIn(ctx)
        const url = await checkUrl(input.url, reach)
        const caller = readCaller(ctx, publicUrl)
        const { endpoint, secret } = await createEndpoint(
          whileOpen(services, owner),
          owner.account.id,
          { ...input, url },
          caller,
        )
        return { webhook: presentEndpoint(endpoint), secret }
      },
    ),
    route(
      {
        method: 'get',
        path: '/creators/webhooks',
        summary: 'The webhooks, oldest first, each with its last delivery',
        credential: 'session',
        limit: 'reads',
        input: nothing,
        invalid: 'unauthorized',
        output: schemas.endpointsAnswer,
        errors: [],
      },
      async (_, ctx) => {
        const endpoints = await listEndpoints(services.db, signedIn(ctx).account.id)
        return { webhooks: endpoints.map(presentEndpoint) }
      },
    ),
    route(
      {
        method: 'patch',
        path: '/creators/webhooks/:id',
        summary: 'Change, disable or enable a webhook',
        credential: 'session',
        limit: 'intents',
        input: schemas.changeInput,
        invalid: 'invalid_json',
        output: schemas.endpointAnswer,
        errors: [
          'webhook_not_found',
          'invalid_webhook_url',
          'invalid_types',
          'invalid_description',
          'invalid_status',
          'invalid_replay',
          'webhook_disabled',
          ...ownerErrors,
        ],
      },
      async (input, ctx) => {
        const owner = signedIn(ctx)
        await findEndpoint(services.db, owner.account.id, input.id)
        const url = input.url === undefined ? undefined : await checkUrl(input.url, reach)
        const caller = readCaller(ctx, publicUrl)
        const endpoint = await changeEndpoint(
          whileOpen(services, owner),
          owner.account.id,
          { ...input, url },
          caller,
        )
        return { webhook: presentEndpoint(endpoint) }
      },
    ),
    route(
      {
        method: 'delete',
        path: '/creators/webhooks/:id',
        summary: 'Delete a webhook with its deliveries',
        credential: 'session',
        limit: 'intents',
        input: schemas.endpointInput,
        invalid: 'webhook_not_found',
        output: done,
        errors: ['unauthorized', 'forbidden'],
      },
      async ({ id }, ctx) => {
        await deleteEndpoint(whileOpen(services, signedIn(ctx)), signedIn(ctx).account.id, id)
        return {}
      },
    ),
  ]
}

function actRoutes(services: Needs): Route[] {
  return [
    route(
      {
        method: 'post',
        path: '/creators/webhooks/:id/rotate',
        summary: 'Make a new secret, shown this once; the old one also signs for 24 hours',
        credential: 'session',
        limit: 'intents',
        input: schemas.endpointInput,
        invalid: 'webhook_not_found',
        output: schemas.secretAnswer,
        errors: ['invalid_json', ...ownerErrors],
      },
      async ({ id }, ctx) => {
        const owner = signedIn(ctx)
        const { endpoint, secret } = await rotateSecret(whileOpen(services, owner), owner.account.id, id)
        return { webhook: presentEndpoint(endpoint), secret }
      },
    ),
    route(
      {
        method: 'post',
        path: '/creators/webhooks/:id/test',
        summary: 'Send a ping to this webhook only',
        credential: 'session',
        limit: 'intents',
        input: schemas.endpointInput,
        invalid: 'webhook_not_found',
        output: done,
        errors: ['invalid_json', 'webhook_disabled', ...ownerErrors],
      },
      async ({ id }, ctx) => {
        await sendPing(whileOpen(services, signedIn(ctx)), signedIn(ctx).account.id, id)
        return {}
      },
    ),
  ]
}

function deliveryRoutes(services: Needs): Route[] {
  return [
    route(
      {
        method: 'get',
        path: '/creators/webhooks/:id/deliveries',
        list: true,
        summary: 'What became of each event at a webhook, newest event first; kept for 30 days',
        credential: 'session',
        limit: 'reads',
        input: schemas.deliveriesInput,
        invalid: 'webhook_not_found',
        output: schemas.deliveriesAnswer,
        errors: ['unauthorized', 'invalid_state', 'invalid_cursor', 'invalid_limit'],
      },
      async (input, ctx) => {
        const { deliveries, next } = await listDeliveries(services.db, signedIn(ctx).account.id, input)
        return { deliveries: deliveries.map(presentDelivery), nextCursor: cursorOf(next) }
      },
    ),
    route(
      {
        method: 'post',
        path: '/creators/webhooks/:id/redeliver',
        summary: 'Send events again: one, a range of sequence numbers, or all that failed',
        credential: 'session',
        limit: 'intents',
        input: schemas.redeliveryInput,
        invalid: 'webhook_not_found',
        output: schemas.redeliveryAnswer,
        errors: ['invalid_json', 'invalid_redelivery', 'event_not_found', 'webhook_disabled', ...ownerErrors],
      },
      async (input, ctx) => {
        const owner = signedIn(ctx)
        const which = redeliveryOf(owner.account.id, input)
        const { transact } = whileOpen(services, owner)
        return { queued: await transact((uow) => redeliver(uow, owner.account.id, input.id, which)) }
      },
    ),
  ]
}

/** Exactly one of the three forms. Throws `invalid_redelivery`, and `event_not_found` for an event of somebody else. */
function redeliveryOf(userId: string, { event, from, to, failed }: schemas.RedeliveryInput): Redelivery {
  const forms = [event, from ?? to, failed].filter((form) => form !== undefined)
  if (forms.length !== 1)
    throw inputError('invalid_redelivery', 'body', 'must have event, or from and to, or failed')
  if (failed === true) return { failed }
  if (event !== undefined) {
    const sequence = Number(event.slice(event.lastIndexOf('_') + 1))
    if (eventId({ userId, sequence: BigInt(sequence) }) !== event) throw new DomainError('event_not_found')
    return { from: sequence, to: sequence }
  }
  if (from === undefined || to === undefined || to < from)
    throw inputError('invalid_redelivery', 'to', 'must not be below `from`')
  return { from, to }
}
