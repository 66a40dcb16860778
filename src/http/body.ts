import type { Context } from 'koa'
import { koaBody } from 'koa-body'
import { DomainError, type ErrorCode } from '../kernel/errors.js'

const maxBytes = 64 * 1024
const maxDepth = 20

/** JSON only. koa-body's default also takes forms and text/plain, which other sites' pages can post with our cookie. */
const parseJson = koaBody({
  json: true,
  urlencoded: false,
  text: false,
  multipart: false,
  jsonLimit: maxBytes,
  onError: (error) => {
    throw error
  },
})

/**
 * Reads the JSON object in the body, or `{}` without a body. Throws `invalid`, the endpoint's validation error, for
 * another content type and for a body that is malformed, too large, too deep or not an object.
 */
export async function readJsonBody(ctx: Context, invalid: ErrorCode): Promise<Record<string, unknown>> {
  const type = ctx.is('application/json')
  if (type === null || ctx.request.length === 0) return {}
  if (type === false) throw new DomainError(invalid)
  try {
    await parseJson(ctx, async () => undefined)
  } catch {
    throw new DomainError(invalid)
  }
  const body: unknown = ctx.request.body ?? {}
  if (typeof body !== 'object' || body === null || Array.isArray(body) || isDeeperThan(maxDepth, body))
    throw new DomainError(invalid)
  return body as Record<string, unknown>
}

/** Iterative, because recursion on deep input could overflow the stack. */
function isDeeperThan(most: number, body: object): boolean {
  let level: object[] = [body]
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > most) return true
    level = level.flatMap((node) =>
      Object.values(node).filter((child) => typeof child === 'object' && child !== null),
    )
  }
  return false
}
