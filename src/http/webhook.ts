import type { Context, Middleware } from 'koa'
import { DomainError, inputError } from '../kernel/errors.js'

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
    const raw = await readRawBody(ctx)
    if (!(await receive(raw, (name) => ctx.get(name)))) throw new DomainError('unauthorized')
    ctx.body = { success: true }
  }
}

async function readRawBody(ctx: Context): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of ctx.req) {
    size += (chunk as Buffer).length
    if (size > maxBytes) throw inputError('invalid_json', 'body', 'must have at most 256 KB')
    chunks.push(chunk as Buffer)
  }
  return Buffer.concat(chunks)
}
