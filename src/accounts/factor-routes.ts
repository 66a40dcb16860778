import type { Context } from 'koa'
import { type Route, route } from '../http/endpoint.js'
import { readCaller } from '../http/security/caller.js'
import { DomainError, type ErrorCode } from '../kernel/errors.js'
import type { Services } from '../services.js'
import { renewRecoveryCodes } from './factors/change-factors.js'
import { requireFactor, requireFresh } from './factors/check-factor.js'
import {
  addPasskey,
  confirmOptions,
  creationOptions,
  listPasskeys,
  loginOptions,
  removePasskey,
} from './factors/manage-passkeys.js'
import { confirmTotp, removeTotp, startTotp } from './factors/manage-totp.js'
import * as schemas from './factors/schemas.js'
import { countFactors } from './protection.js'
import { done, nothing, otpVerifyAnswer } from './schemas.js'
import { answerSession, ownerGuards, publicGuards, signedIn, whileOpen } from './sessions/auth.js'
import { logInWithPasskey } from './sign-in/login.js'

const owner = { credential: 'session', limit: 'intents' } as const
const ownerErrors: readonly ErrorCode[] = ['unauthorized', 'forbidden', 'account_frozen']
/** Of a call that takes a factor or a young session. */
const freshErrors: readonly ErrorCode[] = [...ownerErrors, 'reauthentication_required', 'account_locked']
/** Of a call that takes a factor only. */
const factorErrors: readonly ErrorCode[] = [...ownerErrors, 'second_factor_required', 'account_locked']

type Needs = Pick<Services, 'config' | 'db' | 'transact'>

/** Second factors: the authenticator app, recovery codes, passkeys, and signing in with a passkey alone. */
export function factorRoutes(services: Needs): Route[] {
  return [...totpRoutes(services), ...passkeyRoutes(services), ...passkeyLoginRoutes(services)]
}

function totpRoutes(services: Needs): Route[] {
  const guards = ownerGuards(services)
  const { db } = services
  return [
    route(
      {
        ...owner,
        method: 'post',
        path: '/auth/totp',
        summary: 'Make the secret of an authenticator app',
        input: schemas.factorInput,
        invalid: 'invalid_code',
        output: schemas.totpAnswer,
        errors: ['totp_exists', ...freshErrors],
      },
      async (presented, ctx) => {
        await requireFresh(services, signedIn(ctx), presented)
        return startTotp(services, signedIn(ctx).account)
      },
      guards,
    ),
    route(
      {
        ...owner,
        method: 'post',
        path: '/auth/totp/confirm',
        summary: 'Put the authenticator app in force with its first code',
        input: schemas.confirmTotpInput,
        invalid: 'invalid_code',
        output: schemas.totpConfirmed,
        errors: [...ownerErrors, 'account_locked'],
      },
      ({ code }, ctx) => confirmTotp(whileOpen(services, signedIn(ctx)), signedIn(ctx).account, code),
      guards,
    ),
    route(
      {
        ...owner,
        method: 'delete',
        path: '/auth/totp',
        summary: 'Remove the authenticator app',
        input: schemas.factorInput,
        bodyOfDelete: true,
        invalid: 'invalid_code',
        output: done,
        errors: ['factor_not_found', ...factorErrors],
      },
      (presented, ctx) => removeTotp(whileOpen(services, signedIn(ctx)), signedIn(ctx).account, presented),
      guards,
    ),
    route(
      {
        ...owner,
        method: 'post',
        path: '/auth/recovery-codes',
        summary: 'Make ten recovery codes in place of the earlier ones; they are shown this once',
        input: schemas.factorInput,
        invalid: 'invalid_code',
        output: schemas.recoveryCodesAnswer,
        errors: ['factor_not_found', ...factorErrors],
      },
      async (presented, ctx) => {
        const { account } = signedIn(ctx)
        const { oldest } = await countFactors(db, account.id)
        if (oldest === null) throw new DomainError('factor_not_found')
        await requireFactor(services, account.id, presented, { notYoungerThan: oldest })
        return { recoveryCodes: await renewRecoveryCodes(whileOpen(services, signedIn(ctx)), account) }
      },
      guards,
    ),
  ]
}

function passkeyRoutes(services: Needs): Route[] {
  const guards = ownerGuards(services)
  return [
    route(
      {
        ...owner,
        method: 'post',
        path: '/auth/passkeys/options',
        summary: 'The options with which a browser makes a passkey',
        input: schemas.factorInput,
        invalid: 'invalid_code',
        output: schemas.creationOptionsAnswer,
        errors: [...freshErrors],
      },
      async (presented, ctx) => {
        await requireFresh(services, signedIn(ctx), presented)
        return { options: await creationOptions(services, signedIn(ctx).account) }
      },
      guards,
    ),
    route(
      {
        ...owner,
        method: 'post',
        path: '/auth/passkeys',
        summary: 'Add the passkey that the browser made',
        input: schemas.newPasskeyInput,
        invalid: 'invalid_passkey',
        output: schemas.passkeyAdded,
        errors: ['invalid_label', 'passkey_exists', 'too_many_passkeys', ...ownerErrors],
      },
      (made, ctx) => addPasskey(whileOpen(services, signedIn(ctx)), signedIn(ctx).account, made),
      guards,
    ),
    route(
      {
        ...owner,
        method: 'get',
        path: '/auth/passkeys',
        summary: 'The own passkeys, oldest first',
        limit: 'reads',
        input: nothing,
        invalid: 'unauthorized',
        output: schemas.passkeysAnswer,
        errors: [],
      },
      async (_, ctx) => ({ passkeys: await listPasskeys(services, signedIn(ctx).account.id) }),
      guards,
    ),
    route(
      {
        ...owner,
        method: 'delete',
        path: '/auth/passkeys/:id',
        summary: 'Remove a passkey',
        input: schemas.removePasskeyInput,
        bodyOfDelete: true,
        invalid: 'invalid_code',
        output: done,
        errors: ['factor_not_found', ...factorErrors],
      },
      ({ id, ...presented }, ctx) =>
        removePasskey(whileOpen(services, signedIn(ctx)), signedIn(ctx).account, id, presented),
      guards,
    ),
    route(
      {
        ...owner,
        method: 'post',
        path: '/auth/passkeys/confirm/options',
        summary: 'The options with which one of the own passkeys confirms a change or a withdrawal',
        input: nothing,
        invalid: 'invalid_json',
        output: schemas.requestOptionsAnswer,
        errors: ['factor_not_found', ...ownerErrors],
      },
      async (_, ctx) => ({ options: await confirmOptions(services, signedIn(ctx).account.id) }),
      guards,
    ),
  ]
}

function passkeyLoginRoutes(services: Needs): Route[] {
  const { publicUrl } = services.config.http
  const ownSite = publicGuards(publicUrl)
  return [
    route(
      {
        method: 'post',
        path: '/auth/passkeys/login/options',
        summary: 'The options with which a passkey logs in; they name no account',
        credential: 'none',
        limit: 'signInAddress',
        input: nothing,
        invalid: 'invalid_json',
        output: schemas.requestOptionsAnswer,
        errors: ['forbidden'],
      },
      async () => ({ options: await loginOptions(services) }),
      ownSite,
    ),
    route(
      {
        method: 'post',
        path: '/auth/passkeys/login',
        summary: 'Open a session with a passkey alone',
        credential: 'none',
        limit: 'signInAddress',
        input: schemas.passkeyLoginInput,
        invalid: 'invalid_passkey',
        output: otpVerifyAnswer,
        errors: ['forbidden'],
      },
      async (answer, ctx: Context) => {
        const opened = await logInWithPasskey(services, answer, readCaller(ctx, publicUrl))
        return answerSession(ctx, services.config, opened, 'otpVerify')
      },
      ownSite,
    ),
  ]
}
