import type { Context, Middleware } from 'koa'
import { isSignedIn, userOf } from '../accounts/sessions/auth.js'
import type { KeyedLimit } from '../http/limits/rate-limits.js'
import { readBearer } from '../http/security/credentials.js'
import { DomainError } from '../kernel/errors.js'
import type { Services } from '../services.js'
import { findKeyOwner } from './api-keys.js'

/** Paths that need a session, which an API key opens too. */
export const keyPath = /^\/(creators\/(events|stream)|test\/.+)\/?$/i

/** Requires a session, which app.ts has checked, or else an open API key. */
export function requireOwner(services: Pick<Services, 'db' | 'config'>): Middleware {
  return async (ctx, next) => {
    const owner = isSignedIn(ctx) ? userOf(ctx) : await findKeyOwner(services, readBearer(ctx) ?? '')
    if (owner === undefined) throw new DomainError('invalid_api_key')
    ctx.state['owner'] = owner
    await next()
  }
}

/** Whose request it is. Only for routes behind the guard above. */
export function ownerOf(ctx: Context): string {
  const owner: string | undefined = ctx.state['owner']
  if (owner === undefined) throw new Error('This route has no owner')
  return owner
}

export const perOwner: KeyedLimit<unknown> = {
  name: 'apiKey',
  address: 'sdkAddress',
  key: (_, ctx) => ownerOf(ctx),
}
