import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import helmet from 'helmet'
import type { Middleware } from 'koa'

/** For answers that are data: they load nothing, run nothing and may not be framed. */
const apiPolicy = { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } }

/**
 * Sets the security headers. They are the same for every answer, so helmet computes them once. `https`: the public URL
 * is https, so Strict-Transport-Security is set.
 */
export function securityHeaders(https: boolean): Middleware {
  const request = new IncomingMessage(new Socket())
  const response = new ServerResponse(request)
  const write = helmet({
    contentSecurityPolicy: apiPolicy,
    crossOriginOpenerPolicy: false,
    strictTransportSecurity: https,
  })
  write(request, response, () => undefined)
  const headers = Object.entries(response.getHeaders()) as [string, string][]
  return (ctx, next) => {
    for (const [name, value] of headers) ctx.res.setHeader(name, value)
    return next()
  }
}

/** Forbids caching, also of errors. For answers that carry credentials or change every second. */
export const noStore: Middleware = async (ctx, next) => {
  ctx.set('Cache-Control', 'no-store')
  await next()
}
