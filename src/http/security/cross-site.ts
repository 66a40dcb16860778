import type { Context, Middleware } from 'koa'
import { DomainError } from '../../kernel/errors.js'

/** Methods that change nothing: a foreign page may cause them, and cannot read the answer. */
const reading = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Refuses a state-changing request that a foreign page makes with our cookie (403 `Forbidden`): an Origin that is
 * neither this host nor the public URL or, without Origin, a Sec-Fetch-Site that says cross-site or same-site.
 * Neither header present (a backend, a script): it passes, since then no browser put the cookie there.
 */
export function refuseCrossSite(publicUrl: string): Middleware {
  const publicOrigin = new URL(publicUrl).origin
  return async (ctx, next) => {
    if (!reading.has(ctx.method) && isCrossSite(ctx, publicOrigin)) throw new DomainError('forbidden')
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
