import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import helmet from 'helmet'
import type { Middleware } from 'koa'

/** Answers are data: nothing in them may load or run, and nobody may frame them. */
const apiPolicy = { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } }

/** The policy of a page on which nothing runs, and which loads nothing of anybody else's. */
export const stillPagePolicy =
  "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/**
 * The headers that keep a browser from doing more with an answer than read it. They are the same for every answer,
 * so helmet is asked once, not for each. `https`: whether the public URL is; only then may browsers be told to insist.
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
