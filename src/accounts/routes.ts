import type { Context } from 'koa'
import { type Route, route } from '../http/endpoint.js'
import { clientAddress } from '../http/limits/client-address.js'
import { limitFailures } from '../http/limits/rate-limits.js'
import { readCaller } from '../http/security/caller.js'
import { clearSessionCookie } from '../http/security/credentials.js'
import { noStore } from '../http/security/response-headers.js'
import type { Services } from '../services.js'
import { emailRoutes } from './emails/routes.js'
import { factorRoutes } from './factor-routes.js'
import { freezeByLink } from './freeze-account.js'
import type { PasswordsFor } from './password.js'
import { passwordRoutes } from './passwords/routes.js'
import { presentUser } from './present.js'
import { readSecurity } from './protection.js'
import {
  byLink,
  credentials,
  done,
  emailAddress,
  meAnswer,
  nothing,
  otpStartInput,
  otpVerifyAnswer,
  otpVerifyInput,
  ownRead,
  registration,
  securityAnswer,
  sessionAnswer,
  signInLinkInput,
} from './schemas.js'
import { sessionRoutes } from './session-routes.js'
import { answerSession, ownerGuards, publicGuards, requireSessionOrToken, signedIn } from './sessions/auth.js'
import { revokeSession } from './sessions/session.js'
import { login } from './sign-in/login.js'
import { register } from './sign-in/register.js'
import { signInByLink } from './sign-in/sign-in-link.js'
import { startOtp } from './sign-in/start-code.js'
import { verifyOtp } from './sign-in/verify-code.js'

type Needs = Pick<Services, 'config' | 'db' | 'transact' | 'limits' | 'log'>

/** `/auth/*`: register, log in with password or one-time code, the own profile, log out. */
export function accountRoutes(services: Needs, passwordsFor: PasswordsFor): Route[] {
  const { config, db } = services
  const { publicUrl } = config.http
  const operationsFor = (ctx: Context) => ({ ...services, passwords: passwordsFor(clientAddress(ctx)) })
  const failedCodes = services.limits.of('failedCodes')
  const ownSite = publicGuards(publicUrl)
  const authenticated = requireSessionOrToken(services)

  const callerOf = (ctx: Context) => readCaller(ctx, publicUrl)
  return [
    route(
      {
        method: 'post',
        path: '/auth/register',
        summary: 'Create an account and open a session',
        credential: 'none',
        pausedBy: ['registrations'],
        limit: 'register',
        input: registration,
        invalid: 'invalid_registration',
        output: sessionAnswer,
        errors: ['email_in_use', 'forbidden'],
      },
      async (input, ctx) =>
        answerSession(ctx, config, await register(operationsFor(ctx), input, callerOf(ctx)), 'session'),
      ownSite,
    ),
    route(
      {
        method: 'post',
        path: '/auth/login',
        summary: 'Open a session with e-mail and password',
        credential: 'none',
        // The key includes the client address: with the e-mail alone, anyone could lock its owner out.
        // Texts that are not e-mail addresses share one key per client address.
        // The budget of the address bounds how much hashing one caller can ask for.
        limit: {
          name: 'login',
          address: 'signInAddress',
          key: (input, ctx) => `${clientAddress(ctx)} ${emailAddress.safeParse(input.email).data ?? ''}`,
        },
        input: credentials,
        invalid: 'invalid_login',
        output: sessionAnswer,
        errors: [
          'invalid_credentials',
          'second_factor_required',
          'invalid_code',
          'account_locked',
          'forbidden',
        ],
      },
      async (input, ctx) =>
        answerSession(ctx, config, await login(operationsFor(ctx), input, callerOf(ctx)), 'session'),
      ownSite,
    ),
    route(
      {
        method: 'post',
        path: '/auth/otp/start',
        summary: 'Have a one-time code mailed',
        credential: 'none',
        limit: {
          name: 'otpStart',
          address: 'signInAddress',
          key: ({ email }) => email,
        },
        input: otpStartInput,
        invalid: 'email_required',
        output: done,
        errors: ['account_not_found', 'account_locked', 'forbidden'],
      },
      ({ email }, ctx) => startOtp(services, email, callerOf(ctx)),
      ownSite,
    ),
    route(
      {
        method: 'post',
        path: '/auth/otp/verify',
        summary: 'Open a session with the mailed one-time code',
        credential: 'none',
        // This limit is per client address. Wrong codes are counted per account, in PostgreSQL (secrets/attempts.ts),
        // and per client address over all accounts (`failedCodes`).
        limit: 'reads',
        input: otpVerifyInput,
        invalid: 'invalid_code',
        output: otpVerifyAnswer,
        errors: ['second_factor_required', 'account_locked', 'forbidden'],
      },
      async (input, ctx) => {
        const verify = () => verifyOtp(services, input, callerOf(ctx))
        const wrong = { failure: 'invalid_code', key: clientAddress(ctx) } as const
        const opened = await limitFailures(failedCodes, wrong, ctx, verify)
        return answerSession(ctx, config, opened, 'otpVerify')
      },
      ownSite,
    ),
    route(
      {
        method: 'post',
        path: '/auth/otp/link',
        summary: 'Open a session with the link mailed while codes are locked, once',
        credential: 'none',
        limit: 'reads',
        input: signInLinkInput,
        invalid: 'link_token_required',
        output: otpVerifyAnswer,
        errors: ['invalid_link', 'second_factor_required', 'invalid_code', 'account_locked', 'forbidden'],
      },
      async (input, ctx) =>
        answerSession(ctx, config, await signInByLink(services, input, callerOf(ctx)), 'otpVerify'),
      ownSite,
    ),
    route(
      {
        method: 'get',
        path: '/auth/me',
        summary: 'The own profile',
        credential: 'session-or-token',
        limit: 'reads',
        input: nothing,
        invalid: 'unauthorized',
        output: meAnswer,
        errors: [],
      },
      async (_, ctx) => ({ user: presentUser(signedIn(ctx).account, 'me') }),
      [noStore, authenticated],
    ),
    route(
      {
        ...ownRead,
        path: '/auth/security',
        summary: 'What protects the account',
        output: securityAnswer,
      },
      async (_, ctx) => {
        const security = await readSecurity(db, signedIn(ctx).account.id)
        return { ...security, frozenAt: security.frozenAt?.toISOString() ?? null }
      },
      ownerGuards(services),
    ),
    route(
      {
        method: 'post',
        path: '/auth/logout',
        summary: 'Revoke the session and its access token',
        credential: 'session-or-token',
        limit: 'reads',
        input: nothing,
        invalid: 'invalid_json',
        output: done,
        errors: ['unauthorized', 'forbidden'],
      },
      async (_, ctx) => {
        await revokeSession(db, signedIn(ctx).sessionHash)
        clearSessionCookie(ctx, publicUrl)
      },
      [...ownSite, authenticated],
    ),
    ...passwordRoutes(services, passwordsFor),
    ...emailRoutes(services, passwordsFor),
    ...sessionRoutes(services),
    ...factorRoutes(services),
    route(
      {
        ...byLink,
        path: '/auth/not-me',
        summary: 'Freeze the account with the link of a mail, without signing in',
        errors: ['invalid_link', 'forbidden'],
      },
      ({ token }) => freezeByLink(services, token),
      ownSite,
    ),
  ]
}
