import type { Context, Middleware } from 'koa'
import { findApiKey } from '../creators/api-keys.js'
import { readBearer } from '../http/security/bearer.js'
import { DomainError } from '../kernel/errors.js'
import type { Services } from '../services.js'
import { findSdkSession, type SdkSession } from './session.js'

type Needs = Pick<Services, 'config' | 'db'>

/** Contract: a key that is too short is refused like a missing one. */
const shortestKey = 20

/** Refuses a missing or short key with 401 before the body is read; whose key it is is asked after that. */
export const requireKey: Middleware = async (ctx, next) => {
  presentedKey(ctx)
  await next()
}

/** The user whose open API key this request presents. Throws `invalid_api_key`. */
export async function keyOwner({ db }: Needs, ctx: Context): Promise<string> {
  const found = await findApiKey(db, presentedKey(ctx))
  if (found === undefined) throw new DomainError('invalid_api_key')
  return found.userId
}

/** Lets in whoever can still read the session: until an hour after it expired, also when it is used up. */
export function requireReadableSession({ db }: Needs): Middleware {
  return guard(db, () => true)
}

/** Lets in a session in which a tip can be made: not expired, not consumed, not exhausted. */
export function requireTippingSession({ db, config }: Needs): Middleware {
  return guard(db, ({ open, intents }) => open && intents < config.sdk.sessionIntents)
}

/** Lets in a session that is neither expired nor consumed. */
export function requireOpenSession({ db }: Needs): Middleware {
  return guard(db, ({ open }) => open)
}

/** What a guard has let in. `token` is what was presented. */
export interface PresentedSession {
  readonly session: SdkSession
  readonly token: string
}

/** The session of a guarded request. To be called behind one of the guards only. */
export function presentedSession(ctx: Context): PresentedSession {
  const found: PresentedSession | undefined = ctx.state['sdkSession']
  if (found === undefined) throw new Error('This route has no guard')
  return found
}

function presentedKey(ctx: Context): string {
  const key = readBearer(ctx)
  if (key === undefined || key.length < shortestKey) throw new DomainError('invalid_api_key')
  return key
}

function guard(db: Services['db'], letsIn: (session: SdkSession) => boolean): Middleware {
  return async (ctx, next) => {
    const token = readBearer(ctx)
    const session = token === undefined ? undefined : await findSdkSession(db, token)
    if (token === undefined || session === undefined || !letsIn(session))
      throw new DomainError('invalid_session_token')
    ctx.state['sdkSession'] = { session, token } satisfies PresentedSession
    await next()
  }
}
