import type { Middleware } from 'koa'
import { DomainError } from '../kernel/errors.js'
import { readRawBody } from './raw-body.js'

/** The providers' webhooks are a few kilobytes. */
const maxBytes = 256 * 1024

/**
 * Serves a provider's webhook. `receive` gets the exact bytes of the body, because the provider signs those. It returns
 * false when the webhook does not come from the provider, which is answered with 401. All others are answered with 200,
 * because providers repeat a webhook that is not.
 */
export function serveWebhook(
  receive: (raw: Buffer, header: (name: string) => string) => Promise<boolean>,
): Middleware {
  return async (ctx) => {
    const raw = await readRawBody(ctx, maxBytes, 'invalid_json')
    if (!(await receive(raw, (name) => ctx.get(name)))) throw new DomainError('unauthorized')
    ctx.body = { success: true }
  }
}
