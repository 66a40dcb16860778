import type { Context } from 'koa'
import { type Route, route } from '../http/endpoint.js'
import { readCaller } from '../http/security/caller.js'
import { DomainError } from '../kernel/errors.js'
import type { Services } from '../services.js'
import { countFactors } from './factors/change-factors.js'
import * as endpoints from './factors/endpoints.js'
import {
  addPasskey,
  confirmOptions,
  creationOptions,
  listPasskeys,
  loginOptions,
  removePasskey,
} from './factors/manage-passkeys.js'
import { confirmTotp, removeTotp, startTotp } from './factors/manage-totp.js'
import { renewRecoveryCodes } from './factors/recovery-codes.js'
import { requireFactor, requireFresh } from './factors/require-fresh.js'
import { answerSession, ownerGuards, publicGuards, signedIn } from './sessions/auth.js'
import { whileOpen } from './sessions/while-open.js'
import { logInWithPasskey } from './sign-in/passkey-login.js'

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
      endpoints.startTotpEndpoint,
      async (presented, ctx) => {
        await requireFresh(services, signedIn(ctx), presented)
        return startTotp(services, signedIn(ctx).account)
      },
      guards,
    ),
    route(
      endpoints.confirmTotpEndpoint,
      ({ code }, ctx) => confirmTotp(whileOpen(services, signedIn(ctx)), signedIn(ctx).account, code),
      guards,
    ),
    route(
      endpoints.removeTotpEndpoint,
      async (presented, ctx) => {
        await removeTotp(whileOpen(services, signedIn(ctx)), signedIn(ctx).account, presented)
        return {}
      },
      guards,
    ),
    route(
      endpoints.recoveryCodesEndpoint,
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
      endpoints.creationOptionsEndpoint,
      async (presented, ctx) => {
        await requireFresh(services, signedIn(ctx), presented)
        return { options: await creationOptions(services, signedIn(ctx).account) }
      },
      guards,
    ),
    route(
      endpoints.addPasskeyEndpoint,
      (made, ctx) => addPasskey(whileOpen(services, signedIn(ctx)), signedIn(ctx).account, made),
      guards,
    ),
    route(
      endpoints.listPasskeysEndpoint,
      async (_, ctx) => ({ passkeys: await listPasskeys(services, signedIn(ctx).account.id) }),
      guards,
    ),
    route(
      endpoints.removePasskeyEndpoint,
      async ({ id, ...presented }, ctx) => {
        await removePasskey(whileOpen(services, signedIn(ctx)), signedIn(ctx).account, id, presented)
        return {}
      },
      guards,
    ),
    route(
      endpoints.confirmOptionsEndpoint,
      async (_, ctx) => ({ options: await confirmOptions(services, signedIn(ctx).account.id) }),
      guards,
    ),
  ]
}

function passkeyLoginRoutes(services: Needs): Route[] {
  const { publicUrl } = services.config.http
  const ownSite = publicGuards(publicUrl)
  return [
    route(endpoints.loginOptionsEndpoint, async () => ({ options: await loginOptions(services) }), ownSite),
    route(
      endpoints.passkeyLoginEndpoint,
      async (answer, ctx: Context) => {
        const opened = await logInWithPasskey(services, answer, readCaller(ctx, publicUrl))
        return answerSession(ctx, services.config, opened, 'otpVerify')
      },
      ownSite,
    ),
  ]
}
