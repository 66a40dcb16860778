import type { Knex } from 'knex'
import type { Context, Middleware } from 'koa'
import { type KeyedLimit, limitFailures } from '../../http/limits/rate-limits.js'
import { setDeviceCookie } from '../../http/security/caller.js'
import { readBearer, readSessionCookie, setSessionCookie } from '../../http/security/credentials.js'
import { refuseCrossSite } from '../../http/security/cross-site.js'
import { noStore } from '../../http/security/response-headers.js'
import { DomainError } from '../../kernel/errors.js'
import type { Config } from '../../platform/config/config.js'
import { query } from '../../platform/database/database.js'
import type { Services } from '../../services.js'
import { presentUser } from '../present.js'
import type { Auth } from '../schemas.js'
import {
  type AccountSession,
  findSession,
  type OpenedSession,
  type PresentedTokens,
  type SignedIn,
} from './session.js'

type Needs = Pick<Services, 'config' | 'db'>

/** What every change by an owner may answer besides its own errors. */
export const ownerErrors = ['unauthorized', 'forbidden', 'account_frozen'] as const

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

export const userOf = (ctx: Context): string => signedIn(ctx).account.id

/** A limit by account. `what`: counts apart from what else has this limit. */
export function perAccount(name: KeyedLimit<unknown>['name'], what = ''): KeyedLimit<unknown> {
  return { name, key: (_, ctx) => `${what}${what && ' '}${userOf(ctx)}` }
}

/** Whether a session was presented and found. */
export function isSignedIn(ctx: Context): boolean {
  return ctx.state['signedIn'] !== undefined
}

/** Has the browser keep a session just opened, and its device. */
export function setCookies(
  ctx: Context,
  { http, sessions }: Pick<Config, 'http' | 'sessions'>,
  { sessionToken, deviceToken }: OpenedSession,
): void {
  setSessionCookie(ctx, http.publicUrl, sessionToken, sessions.absoluteDays)
  setDeviceCookie(ctx, http.publicUrl, deviceToken)
}

/** Sets the cookies of a session just opened, and presents its account. */
export function answerSession<View extends 'session' | 'otpVerify'>(
  ctx: Context,
  config: Pick<Config, 'http' | 'sessions'>,
  { account, session }: AccountSession,
  view: View,
) {
  setCookies(ctx, config, session)
  return { user: presentUser(account, view), auth: presentAuth(session) }
}

/** The guards of what needs no session: from our own pages, not cached. */
export function publicGuards(publicUrl: string): Middleware[] {
  return [noStore, refuseCrossSite(publicUrl)]
}

/** The guards of everything that an owner does with the account: the cookie, from our own pages, not frozen. */
export function ownerGuards(services: Needs): Middleware[] {
  return [noStore, requireSession(services), refuseCrossSite(services.config.http.publicUrl), refuseFrozen]
}

/** An API key or a webhook, which a thief may have made: to end it only takes rights away. */
const accessPath = /^\/creators\/(api-keys|webhooks)\/[^/]+\/?$/i

/**
 * Refuses a change to a frozen account. Reading, signing in, ending sessions, API keys and webhooks stay possible. Only behind a
 * guard above.
 */
const refuseFrozen: Middleware = (ctx, next) => {
  const isAllowed = /^(GET|HEAD)$/.test(ctx.method) || (ctx.method === 'DELETE' && accessPath.test(ctx.path))
  if (!isAllowed && signedIn(ctx).account.frozenAt !== null) throw new DomainError('account_frozen')
  return next()
}

const recentSeconds = 15 * 60

/** Requires a session that was opened in the last minutes: an older cookie may be a stolen one. */
export function assertRecentSession({ sessionAge }: SignedIn): void {
  if (sessionAge > recentSeconds) throw new DomainError('reauthentication_required')
}

function guard({ config, db }: Needs, presentedBy: (ctx: Context) => PresentedTokens): Middleware {
  return async (ctx, next) => {
    const found = await findSession(db, config.sessions, presentedBy(ctx))
    if (found === undefined) throw new DomainError('unauthorized')
    ctx.state['signedIn'] = found
    await next()
  }
}

/** The API's auth object. */
function presentAuth({ accessToken, expiresAt }: OpenedSession): Auth {
  return { accessToken, tokenType: 'Bearer', expiresAt: expiresAt.toISOString() }
}

/** The budget of the address bounds how much hashing one caller can ask for. `limitGuesses` bounds guesses. */
export const ownerLimit = 'signInAddress'

/**
 * Limits wrong passwords by session: a thief with the cookie guesses from many addresses. Only wrong ones count, and not by
 * account, so the thief keeps nobody out: the owner signs in again and has a budget of their own.
 */
export function limitGuesses<T>(
  { limits }: Pick<Services, 'limits'>,
  ctx: Context,
  attempt: () => Promise<T>,
): Promise<T> {
  const key = `owner ${signedIn(ctx).sessionHash.toString('base64url')}`
  return limitFailures(limits.of('otpStart'), { failure: 'invalid_credentials', key }, ctx, attempt)
}

/**
 * The services for a change that a session asks for: none of its transactions commits once the session has ended. The guard reads
 * the session before the body arrives, and a thief can hold the body back until the owner has ended all sessions. It is checked
 * last: whoever ends sessions locks the account first, so a change that locks it too must have done so before.
 */
export function whileOpen<Needs extends Pick<Services, 'transact'>>(
  services: Needs,
  signedIn: Pick<SignedIn, 'sessionHash'>,
): Needs {
  return {
    ...services,
    transact: (work) =>
      services.transact(async (uow) => {
        const result = await work(uow)
        await assertSessionOpen(uow.trx, signedIn)
        return result
      }),
  } satisfies Needs
}

/** Keeps the session from ending until the transaction does. Throws `unauthorized` when it has ended. */
async function assertSessionOpen(
  trx: Knex.Transaction,
  { sessionHash }: Pick<SignedIn, 'sessionHash'>,
): Promise<void> {
  const open = await query(trx, {
    name: 'sessions.still-open',
    text: 'select 1 from sessions where token_hash = $1 for share',
    values: [sessionHash],
  })
  if (open.length === 0) throw new DomainError('unauthorized')
}
