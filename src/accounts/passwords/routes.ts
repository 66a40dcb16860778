import type { Context } from 'koa'
import { z } from 'zod'
import { type Route, route } from '../../http/endpoint.js'
import { textOf } from '../../http/input.js'
import { clientAddress } from '../../http/limits/client-address.js'
import { readCaller } from '../../http/security/caller.js'
import type { Services } from '../../services.js'
import { type PasswordsFor, passwordLength } from '../password.js'
import { done, otpStartInput, tokenInput } from '../schemas.js'
import {
  limitGuesses,
  ownerGuards,
  ownerLimit,
  publicGuards,
  setCookies,
  signedIn,
} from '../sessions/auth.js'
import { presentedFields, proofErrors } from '../step-up/reauthenticate.js'
import { changePassword } from './change-password.js'
import { isCommonPassword } from './common-passwords.js'
import { requestReset, resetPassword } from './reset-password.js'

const newPassword = textOf(passwordLength, 'invalid_password')

type Needs = Pick<Services, 'config' | 'db' | 'transact' | 'limits'>

export function passwordRoutes(services: Needs, passwordsFor: PasswordsFor): Route[] {
  const { publicUrl } = services.config.http
  const ownSite = publicGuards(publicUrl)
  const operationsFor = (ctx: Context) => ({ ...services, passwords: passwordsFor(clientAddress(ctx)) })
  return [
    route(
      {
        method: 'post',
        path: '/auth/password',
        summary: 'Set a new password, and end every other session',
        credential: 'session',
        limit: ownerLimit,
        input: z.object({
          ...presentedFields,
          currentPassword: z.string().min(1).optional(),
          newPassword,
        }),
        invalid: 'invalid_password',
        output: done,
        errors: ['password_required', 'invalid_credentials', 'common_password', ...proofErrors],
      },
      async (input, ctx) => {
        const caller = readCaller(ctx, publicUrl)
        const change = () => changePassword(operationsFor(ctx), signedIn(ctx), input, caller)
        const { session } = await limitGuesses(services, ctx, change)
        setCookies(ctx, services.config, session)
      },
      ownerGuards(services),
    ),
    route(
      {
        method: 'post',
        path: '/auth/password/check',
        summary: 'Whether a password is easy to guess',
        credential: 'session',
        limit: 'reads',
        input: z.object({ password: z.string().min(1) }),
        invalid: 'invalid_password',
        output: done.extend({ common: z.boolean() }),
        errors: ['unauthorized', 'forbidden'],
      },
      async ({ password }, ctx) => ({
        common: await isCommonPassword(services.config, password, signedIn(ctx).account),
      }),
      ownerGuards(services),
    ),
    route(
      {
        method: 'post',
        path: '/auth/password/reset',
        summary: 'Have a link for a new password mailed',
        credential: 'none',
        limit: {
          name: 'otpStart',
          address: 'signInAddress',
          key: ({ email }: z.output<typeof otpStartInput>) => `reset ${email}`,
        },
        input: otpStartInput,
        invalid: 'email_required',
        output: done,
        errors: ['forbidden'],
      },
      ({ email }) => requestReset(services, email),
      ownSite,
    ),
    route(
      {
        method: 'post',
        path: '/auth/password/reset/confirm',
        summary: 'Set a new password with the mailed link, and end every session',
        credential: 'none',
        // Hashing a password needs a valid link, so this needs no budget as signing in does.
        limit: 'reads',
        input: tokenInput.extend({ newPassword }),
        invalid: 'link_token_required',
        output: done,
        errors: ['invalid_password', 'common_password', 'invalid_link', 'forbidden'],
      },
      (input, ctx) => resetPassword(operationsFor(ctx), input, readCaller(ctx, publicUrl)),
      ownSite,
    ),
  ]
}
