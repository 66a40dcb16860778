import type { Context, Middleware } from 'koa'
import { DomainError } from '../kernel/errors.js'

/** A webhook tells of one thing; the providers' own are a few kilobytes. */
const maxBytes = 256 * 1024

/**
 * Serves a provider's webhook: hands over the body's very bytes, which the provider signed. `take` returns false for
 * one that is not the provider's, which is answered 401; everything else is a 200, as providers repeat what is not.
 */
export function serveWebhook(
  take: (raw: Buffer, header: (name: string) => string) => Promise<boolean>,
): Middleware {
  return async (ctx) => {
    const raw = await readRaw(ctx)
    if (!(await take(raw, (name) => ctx.get(name)))) throw new DomainError('unauthorized')
    ctx.body = { success: true }
  }
}

async function readRaw(ctx: Context): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of ctx.req) {
    size += (chunk as Buffer).length
    if (size > maxBytes) throw new DomainError('invalid_json')
    chunks.push(chunk as Buffer)
  }
  return Buffer.concat(chunks)
}
