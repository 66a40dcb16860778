import type { Context } from 'koa'
import { z } from 'zod'
import { type Route, route } from '../../http/endpoint.js'
import { clientAddress } from '../../http/limits/client-address.js'
import { readCaller } from '../../http/security/caller.js'
import type { Services } from '../../services.js'
import type { PasswordsFor } from '../password.js'
import { byLink, done, emailAddress } from '../schemas.js'
import { limitGuesses, ownerGuards, ownerLimit, publicGuards, signedIn } from '../sessions/auth.js'
import { presentedFields, proofErrors } from '../step-up/reauthenticate.js'
import { confirmEmailChange, requestEmailChange } from './change-email.js'
import { undoEmailChange } from './undo-email.js'

type Needs = Pick<Services, 'config' | 'db' | 'transact' | 'limits'>

export function emailRoutes(services: Needs, passwordsFor: PasswordsFor): Route[] {
  const ownSite = publicGuards(services.config.http.publicUrl)
  const operationsFor = (ctx: Context) => ({ ...services, passwords: passwordsFor(clientAddress(ctx)) })
  return [
    route(
      {
        method: 'post',
        path: '/auth/email',
        summary: 'Have a link mailed to a new e-mail address',
        credential: 'session',
        limit: ownerLimit,
        input: z.object({
          ...presentedFields,
          email: emailAddress,
          password: z.string().min(1).optional(),
        }),
        invalid: 'email_required',
        output: done,
        errors: ['password_required', 'invalid_credentials', 'email_in_use', ...proofErrors],
      },
      (input, ctx) =>
        limitGuesses(services, ctx, () => requestEmailChange(operationsFor(ctx), signedIn(ctx), input)),
      ownerGuards(services),
    ),
    route(
      {
        ...byLink,
        path: '/auth/email/confirm',
        summary: 'Change the e-mail address with the link mailed to the new one',
        errors: ['invalid_link', 'email_in_use', 'account_frozen', 'forbidden'],
      },
      ({ token }, ctx) =>
        confirmEmailChange(services, token, readCaller(ctx, services.config.http.publicUrl)),
      ownSite,
    ),
    route(
      {
        ...byLink,
        path: '/auth/email/undo',
        summary: 'Restore the e-mail address with the link mailed to the old one',
        errors: ['invalid_link', 'email_in_use', 'forbidden'],
      },
      ({ token }) => undoEmailChange(services, token),
      ownSite,
    ),
  ]
}
