import type { Context } from 'koa'
import type { z } from 'zod'
import { clientAddress } from '../http/client-address.js'
import { type Endpoint, type Route, route } from '../http/endpoint.js'
import { clearSessionCookie, readSessionCookie, setSessionCookie } from '../http/security/cookies.js'
import { refuseCrossSite } from '../http/security/cross-site.js'
import { noStore } from '../http/security/no-store.js'
import type { Services } from '../services.js'
import { startOtp } from './one-time-codes/start.js'
import { verifyOtp } from './one-time-codes/verify.js'
import { presentAuth, presentUser } from './present.js'
import {
  codeEntry,
  codeRequest,
  credentials,
  done,
  emailAddress,
  meAnswer,
  nothing,
  otpVerifyAnswer,
  registration,
  sessionAnswer,
} from './schemas.js'
import { requireSessionOrToken, signedIn } from './sessions/auth.js'
import { login } from './sessions/login.js'
import { createPasswords } from './sessions/password.js'
import { type Entered, register } from './sessions/register.js'
import { revokeSession } from './sessions/session.js'

type AnyEndpoint = Endpoint<z.ZodType, z.ZodType>

const registerEndpoint = {
  method: 'post',
  path: '/auth/register',
  summary: 'Create an account and open a session',
  credential: 'none',
  limit: 'register',
  input: registration,
  invalid: 'invalid_registration',
  output: sessionAnswer,
  errors: ['email_in_use', 'forbidden'],
} as const satisfies AnyEndpoint

const loginEndpoint = {
  method: 'post',
  path: '/auth/login',
  summary: 'Open a session with e-mail and password',
  credential: 'none',
  // Per address too: counted by the e-mail alone, anybody could lock its owner out. What is no e-mail is one key.
  limit: {
    name: 'login',
    key: (input: z.output<typeof credentials>, ctx: Context) =>
      `${clientAddress(ctx)} ${emailAddress.safeParse(input.email).data ?? ''}`,
  },
  input: credentials,
  invalid: 'invalid_login',
  output: sessionAnswer,
  errors: ['invalid_credentials', 'forbidden'],
} as const satisfies AnyEndpoint

const otpStartEndpoint = {
  method: 'post',
  path: '/auth/otp/start',
  summary: 'Have a one-time code mailed',
  credential: 'none',
  limit: { name: 'otpStart', key: ({ email }: z.output<typeof codeRequest>) => email },
  input: codeRequest,
  invalid: 'email_required',
  output: done,
  errors: ['account_not_found', 'forbidden'],
} as const satisfies AnyEndpoint

const otpVerifyEndpoint = {
  method: 'post',
  path: '/auth/otp/verify',
  summary: 'Open a session with the mailed one-time code',
  credential: 'none',
  // The lock on wrong codes is the account's and kept in PostgreSQL; this only bounds one address.
  limit: 'reads',
  input: codeEntry,
  invalid: 'invalid_code',
  output: otpVerifyAnswer,
  errors: ['account_locked', 'forbidden'],
} as const satisfies AnyEndpoint

const meEndpoint = {
  method: 'get',
  path: '/auth/me',
  summary: 'The own profile',
  credential: 'session-or-token',
  limit: 'reads',
  input: nothing,
  invalid: 'unauthorized',
  output: meAnswer,
  errors: [],
} as const satisfies AnyEndpoint

const logoutEndpoint = {
  method: 'post',
  path: '/auth/logout',
  summary: 'Revoke the session and its access token',
  credential: 'session-or-token',
  limit: 'reads',
  input: nothing,
  invalid: 'invalid_json',
  output: done,
  errors: ['unauthorized', 'forbidden'],
} as const satisfies AnyEndpoint

type Needs = Pick<Services, 'config' | 'db' | 'transact'>

/** `/auth/*`: register, log in with password or one-time code, the own profile, log out. */
export function accountRoutes(services: Needs): Route[] {
  const { config, db } = services
  const { publicUrl } = config.http
  const operations = { ...services, passwords: createPasswords() }
  const ownSite = [noStore, refuseCrossSite(publicUrl)]
  const identified = requireSessionOrToken(services)

  const presented = (ctx: Context) => readSessionCookie(ctx, publicUrl)

  function enter<View extends 'session' | 'otpVerify'>(
    ctx: Context,
    { account, session }: Entered,
    view: View,
  ) {
    setSessionCookie(ctx, publicUrl, session.sessionToken, config.sessions.absoluteDays)
    return { user: presentUser(account, view), auth: presentAuth(session) }
  }
  return [
    route(
      registerEndpoint,
      async (input, ctx) => enter(ctx, await register(operations, input, presented(ctx)), 'session'),
      ownSite,
    ),
    route(
      loginEndpoint,
      async (input, ctx) => enter(ctx, await login(operations, input, presented(ctx)), 'session'),
      ownSite,
    ),
    route(
      otpStartEndpoint,
      async ({ email }) => {
        await startOtp(services, email)
        return {}
      },
      ownSite,
    ),
    route(
      otpVerifyEndpoint,
      async (input, ctx) => enter(ctx, await verifyOtp(services, input, presented(ctx)), 'otpVerify'),
      ownSite,
    ),
    route(meEndpoint, async (_, ctx) => ({ user: presentUser(signedIn(ctx).account, 'me') }), [
      noStore,
      identified,
    ]),
    route(
      logoutEndpoint,
      async (_, ctx) => {
        await revokeSession(db, signedIn(ctx).sessionHash)
        clearSessionCookie(ctx, publicUrl)
        return {}
      },
      [...ownSite, identified],
    ),
  ]
}
