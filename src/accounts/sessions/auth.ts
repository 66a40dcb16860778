import type { Context, Middleware } from 'koa'
import { readBearer } from '../../http/security/bearer.js'
import { readSessionCookie } from '../../http/security/cookies.js'
import { DomainError } from '../../kernel/errors.js'
import type { Services } from '../../services.js'
import { findSession, type Presented, type SignedIn } from './session.js'

type Needs = Pick<Services, 'config' | 'db'>

/** Lets only a session cookie in, else 401 `Unauthorized`: what moves money or settings takes no bearer token. */
export function requireSession(services: Needs): Middleware {
  const { publicUrl } = services.config.http
  return guard(services, (ctx) => ({
    sessionToken: readSessionCookie(ctx, publicUrl),
    accessToken: undefined,
  }))
}

/** Lets a session cookie in or, when there is none that lives, the bearer access token; else 401 `Unauthorized`. */
export function requireSessionOrToken(services: Needs): Middleware {
  const { publicUrl } = services.config.http
  return guard(services, (ctx) => ({
    sessionToken: readSessionCookie(ctx, publicUrl),
    accessToken: readBearer(ctx),
  }))
}

/** Who a guarded request comes from. To be called behind one of the guards only. */
export function signedIn(ctx: Context): SignedIn {
  const found: SignedIn | undefined = ctx.state['signedIn']
  if (found === undefined) throw new Error('This route has no guard')
  return found
}

function guard({ config, db }: Needs, presentedBy: (ctx: Context) => Presented): Middleware {
  return async (ctx, next) => {
    const found = await findSession(db, config.sessions, presentedBy(ctx))
    if (found === undefined) throw new DomainError('unauthorized')
    ctx.state['signedIn'] = found
    await next()
  }
}
