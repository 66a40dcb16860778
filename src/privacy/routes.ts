import type { Context } from 'koa'
import type { PasswordsFor } from '../accounts/password.js'
import { hasFactor } from '../accounts/protection.js'
import { done, nothing, tokenInput } from '../accounts/schemas.js'
import {
  assertRecentSession,
  limitGuesses,
  ownerGuards,
  ownerLimit,
  publicGuards,
  signedIn,
} from '../accounts/sessions/auth.js'
import { assertStillOwner, type Presented, reauthenticateTwice } from '../accounts/step-up/reauthenticate.js'
import { answered, type Route, route } from '../http/endpoint.js'
import { clientAddress } from '../http/limits/client-address.js'
import { clearSessionCookie } from '../http/security/credentials.js'
import { refuseCrossSite } from '../http/security/cross-site.js'
import type { Services } from '../services.js'
import { createTokenBalances } from '../tips/read/wallet-tokens.js'
import { assertNoTokens, closeAccount } from './close-account.js'
import { openExport } from './exports/make-exports.js'
import { requestExport } from './exports/request-export.js'
import { closeInput, exportAnswer, exportFile } from './schemas.js'

type Needs = Pick<Services, 'config' | 'db' | 'transact' | 'chain' | 'limits'>

/** What the law gives an owner: the account's data, and the end of the account. */
export function privacyRoutes(services: Needs, passwordsFor: PasswordsFor): Route[] {
  const { config, transact } = services
  const { publicUrl } = config.http
  const readTokens = createTokenBalances(services)

  /** It cannot be taken back, so the session must be fresh, and the password is not enough beside a second factor. */
  async function proveOwner(ctx: Context, presented: Presented) {
    const who = signedIn(ctx)
    assertRecentSession(who)
    return reauthenticateTwice({ ...services, passwords: passwordsFor(clientAddress(ctx)) }, who, presented)
  }
  return [
    route(
      {
        method: 'get',
        path: '/auth/export',
        summary: "Have the account's data gathered, and a link to the file mailed",
        credential: 'session',
        limit: 'reads',
        input: nothing,
        invalid: 'unauthorized',
        output: exportAnswer,
        errors: ['reauthentication_required', 'forbidden'],
      },
      async (_, ctx) => {
        assertRecentSession(signedIn(ctx))
        const { status, requestedAt, expiresAt } = await requestExport(services, signedIn(ctx).account.id)
        const times = { requestedAt: requestedAt.toISOString(), expiresAt: expiresAt?.toISOString() ?? null }
        return { export: { status, ...times } }
      },
      // A GET, yet it has a file made and a mail sent.
      [...ownerGuards(services), refuseCrossSite(publicUrl, { everyMethod: true })],
    ),
    route(
      {
        method: 'post',
        path: '/auth/export/download',
        summary: 'The file of a mailed link',
        credential: 'none',
        limit: 'reads',
        input: tokenInput,
        invalid: 'link_token_required',
        output: exportFile,
        errors: ['invalid_link', 'forbidden'],
      },
      async ({ token }, ctx) => {
        const { text, madeAt } = await openExport(services, token)
        ctx.attachment(`account-data-${madeAt.toISOString().slice(0, 10)}.json`)
        ctx.type = 'application/json; charset=utf-8'
        ctx.body = text
        return answered
      },
      publicGuards(publicUrl),
    ),
    route(
      {
        method: 'delete',
        path: '/auth/me',
        summary: 'Close the account, for good',
        credential: 'session',
        limit: ownerLimit,
        input: closeInput,
        bodyOfDelete: true,
        invalid: 'password_required',
        output: done,
        errors: [
          'invalid_credentials',
          'invalid_code',
          'second_factor_required',
          'reauthentication_required',
          'account_locked',
          'account_frozen',
          'account_has_money',
          'recently_changed',
          'unauthorized',
          'forbidden',
        ],
      },
      async ({ leaveTokens, ...presented }, ctx) => {
        const who = signedIn(ctx)
        const { id, walletPublicKey } = who.account
        const proof = await limitGuesses(services, ctx, () => proveOwner(ctx, presented))
        // Else the proof was a factor, or a session that a mailed code has just opened.
        const byPassword = proof.passwordHash !== null && !(await hasFactor(services.db, id))
        if (walletPublicKey !== null && (byPassword || leaveTokens !== true))
          assertNoTokens(await readTokens(walletPublicKey), !byPassword)
        await transact(async (uow) => {
          await assertStillOwner(uow.trx, who, proof)
          await closeAccount(uow, publicUrl, id)
        })
        clearSessionCookie(ctx, publicUrl)
        return {}
      },
      ownerGuards(services),
    ),
  ]
}
