import type { Context, Middleware } from 'koa'
import { DomainError } from '../../kernel/errors.js'

/** Methods that change nothing. A page of another site may send them, but cannot read the answer. */
const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Refuses a state-changing request that a page of another site sends with our cookie (403 `Forbidden`). Such a request
 * has an Origin that is neither this host nor the public URL or, without Origin, a Sec-Fetch-Site of cross-site or
 * same-site. A request without both headers does not come from a browser's page, and passes.
 */
export function refuseCrossSite(publicUrl: string): Middleware {
  const publicOrigin = new URL(publicUrl).origin
  return async (ctx, next) => {
    if (!safeMethods.has(ctx.method) && isCrossSite(ctx, publicOrigin)) throw new DomainError('forbidden')
    await next()
  }
}

function isCrossSite(ctx: Context, publicOrigin: string): boolean {
  const origin = ctx.get('Origin')
  if (origin !== '') return origin !== publicOrigin && hostOf(origin) !== ctx.host
  return /^(cross-site|same-site)$/i.test(ctx.get('Sec-Fetch-Site'))
}

function hostOf(origin: string): string | undefined {
  try {
    return new URL(origin).host
  } catch {
    return undefined
  }
}
