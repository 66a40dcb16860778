import type { Context, Middleware } from 'koa'
import { readBearer, readSessionCookie } from '../../http/security/credentials.js'
import { DomainError } from '../../kernel/errors.js'
import type { Services } from '../../services.js'
import { findSession, type PresentedTokens, type SignedIn } from './session.js'

type Needs = Pick<Services, 'config' | 'db'>

/** Requires a session cookie, else 401 `Unauthorized`. Routes that move money or change settings need the cookie. */
export function requireSession(services: Needs): Middleware {
  const { publicUrl } = services.config.http
  return guard(services, (ctx) => ({
    sessionToken: readSessionCookie(ctx, publicUrl),
    accessToken: undefined,
  }))
}

/** Requires a valid session cookie or, without one, a valid bearer access token, else 401 `Unauthorized`. */
export function requireSessionOrToken(services: Needs): Middleware {
  const { publicUrl } = services.config.http
  return guard(services, (ctx) => ({
    sessionToken: readSessionCookie(ctx, publicUrl),
    accessToken: readBearer(ctx),
  }))
}

/** The signed-in account of a request. Only for routes behind one of the guards above. */
export function signedIn(ctx: Context): SignedIn {
  const found: SignedIn | undefined = ctx.state['signedIn']
  if (found === undefined) throw new Error('This route does not require a session')
  return found
}

function guard({ config, db }: Needs, presentedBy: (ctx: Context) => PresentedTokens): Middleware {
  return async (ctx, next) => {
    const found = await findSession(db, config.sessions, presentedBy(ctx))
    if (found === undefined) throw new DomainError('unauthorized')
    ctx.state['signedIn'] = found
    await next()
  }
}
