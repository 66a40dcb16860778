import type { Context, Middleware } from 'koa'
import { DomainError } from '../../kernel/errors.js'
import { reached } from '../limits/trusted-proxies.js'

/** Methods that change nothing, but for the endpoints that say so. A page of another site may send them, but cannot read the answer. */
const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Refuses a state-changing request that a page of another site sends with our cookie (403 `Forbidden`). Such a request
 * has an Origin that is neither the requested one nor the public URL's or, without Origin, a Sec-Fetch-Site of cross-site
 * or same-site. Origins are compared whole: scheme, host and port. A request without both headers does not come from a
 * browser's page, and passes. `everyMethod` is for a GET that changes something.
 */
export function refuseCrossSite(publicUrl: string, { everyMethod = false } = {}): Middleware {
  const publicOrigin = new URL(publicUrl).origin
  return async (ctx, next) => {
    const checked = everyMethod || !safeMethods.has(ctx.method)
    if (checked && isCrossSite(ctx, publicOrigin)) throw new DomainError('forbidden')
    await next()
  }
}

function isCrossSite(ctx: Context, publicOrigin: string): boolean {
  const origin = ctx.get('Origin')
  if (origin !== '') return origin !== publicOrigin && origin !== requestedOrigin(ctx, publicOrigin)
  return /^(cross-site|same-site)$/i.test(ctx.get('Sec-Fetch-Site'))
}

/**
 * The origin that the request was sent to. Behind a proxy that ends TLS our connection is plain http, so an https public
 * URL decides the scheme: a page that was read over http is another origin under every name.
 */
function requestedOrigin(ctx: Context, publicOrigin: string): string | undefined {
  const { host, scheme } = reached(ctx)
  const url = `${publicOrigin.startsWith('https:') ? 'https' : scheme}://${host}`
  return URL.canParse(url) ? new URL(url).origin : undefined
}
