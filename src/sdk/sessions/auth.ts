import type { Context, Middleware } from 'koa'
import { findKeyOwner, refuseKeyOfOtherMode } from '../../creators/api-keys.js'
import type { NairaSession } from '../../fiat/intents/store-intent.js'
import { readBearer } from '../../http/security/credentials.js'
import { DomainError } from '../../kernel/errors.js'
import type { Services } from '../../services.js'
import { countIntent, findSdkSession, type SdkSession } from './session.js'

type Needs = Pick<Services, 'config' | 'db'>

/** API: a shorter key is refused like a missing one. */
const shortestKey = 20

/** Refuses a missing or short key, and one of the other mode, with 401 before the body is read. `keyOwner` checks the key itself afterwards. */
export function requireKey({ config }: Needs): Middleware {
  return async (ctx, next) => {
    refuseKeyOfOtherMode(config, presentedKey(ctx))
    await next()
  }
}

/** The user whose open API key this request presents. Throws `invalid_api_key`. */
export async function keyOwner(services: Needs, ctx: Context): Promise<string> {
  const userId = await findKeyOwner(services, presentedKey(ctx))
  if (userId === undefined) throw new DomainError('invalid_api_key')
  return userId
}

/** Requires a readable session: until an hour after it expired, also when it is consumed or exhausted. */
export function requireReadableSession({ db }: Needs): Middleware {
  return guard(db, ({ readable }) => (readable ? undefined : 'session_expired'))
}

/** Requires a session that can create an intent: not expired, not consumed, not exhausted. */
export function requireTippingSession({ db, config }: Needs): Middleware {
  return guard(db, (session) => whyNotTipping(session, config.sdk))
}

/** Requires a session that is neither expired nor consumed. */
export function requireOpenSession({ db }: Needs): Middleware {
  return guard(db, whyEnded)
}

/** The session of a request that needs none. A token that can create no intent counts as none. */
export async function findNairaSession(
  { db, config }: Needs,
  ctx: Context,
): Promise<NairaSession | undefined> {
  const token = readBearer(ctx)
  const session = token === undefined ? undefined : await findSdkSession(db, token)
  if (session === undefined || whyNotTipping(session, config.sdk) !== undefined) return undefined
  const { id, userId, own } = session
  return { id, userId, own, count: (trx) => countIntent(trx, config.sdk, id) }
}

/** The session of a guarded request, with the token that was presented. */
export interface PresentedSession {
  readonly session: SdkSession
  readonly token: string
}

/** The session of a request. Only for routes behind one of the guards above. */
export function presentedSession(ctx: Context): PresentedSession {
  const found: PresentedSession | undefined = ctx.state['sdkSession']
  if (found === undefined) throw new Error('This route does not require an SDK session')
  return found
}

function presentedKey(ctx: Context): string {
  const key = readBearer(ctx)
  if (key === undefined || key.length < shortestKey) throw new DomainError('invalid_api_key')
  return key
}

type SessionFault = 'session_expired' | 'session_consumed' | 'session_exhausted'

function whyEnded({ expired, consumed }: SdkSession): SessionFault | undefined {
  if (consumed) return 'session_consumed'
  return expired ? 'session_expired' : undefined
}

/** Why a session can create no intent. Undefined when it can. */
function whyNotTipping(
  session: SdkSession,
  { sessionIntents }: Services['config']['sdk'],
): SessionFault | undefined {
  return whyEnded(session) ?? (session.intents < sessionIntents ? undefined : 'session_exhausted')
}

/** Refuses a session for which `faultOf` names a fault. All these refusals have one text, and each its own code. */
function guard(db: Services['db'], faultOf: (session: SdkSession) => SessionFault | undefined): Middleware {
  return async (ctx, next) => {
    const token = readBearer(ctx)
    if (token === undefined) throw new DomainError('invalid_session_token')
    const session = await findSdkSession(db, token)
    if (session === undefined) throw new DomainError('session_unknown')
    const fault = faultOf(session)
    if (fault !== undefined) throw new DomainError(fault)
    ctx.state['sdkSession'] = { session, token } satisfies PresentedSession
    await next()
  }
}
