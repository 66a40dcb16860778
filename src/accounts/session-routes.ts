import { z } from 'zod'
import { type Route, route } from '../http/endpoint.js'
import { requiredText } from '../http/input.js'
import { clearSessionCookie } from '../http/security/credentials.js'
import { refuseCrossSite } from '../http/security/cross-site.js'
import { noStore } from '../http/security/response-headers.js'
import type { ErrorCode } from '../kernel/errors.js'
import type { Services } from '../services.js'
import { requireFresh } from './factors/check-factor.js'
import { factorInput } from './factors/schemas.js'
import { done, ownRead } from './schemas.js'
import { requireSession, signedIn, whileOpen } from './sessions/auth.js'
import { endOtherSessions, endSession, isOwnSession } from './sessions/end-sessions.js'
import { listSessions } from './sessions/list-sessions.js'
import { revokeSession } from './sessions/session.js'

export const sessionsAnswer = z.object({
  success: z.literal(true),
  sessions: z.array(
    z.object({
      id: z.uuid(),
      current: z.boolean(),
      createdAt: z.iso.datetime(),
      lastUsedAt: z.iso.datetime(),
      network: z.string().nullable(),
      userAgent: z.string().nullable(),
    }),
  ),
})

const endErrors: readonly ErrorCode[] = [
  'unauthorized',
  'forbidden',
  'reauthentication_required',
  'account_locked',
]

/**
 * Ending other sessions needs a factor or a session of the last minutes: whoever stole an old cookie must not throw the owner out.
 * Ending the own session is logging out. Both stay possible while the account is frozen.
 */
export function sessionRoutes(services: Pick<Services, 'config' | 'db' | 'transact'>): Route[] {
  const { config, db } = services
  const { publicUrl } = config.http
  const guards = [noStore, requireSession(services), refuseCrossSite(publicUrl)]
  return [
    route(
      {
        ...ownRead,
        path: '/auth/sessions',
        summary: 'The open sessions, newest first',
        output: sessionsAnswer,
      },
      async (_, ctx) => ({
        sessions: (await listSessions(db, config.sessions, signedIn(ctx))).map((session) => ({
          ...session,
          createdAt: session.createdAt.toISOString(),
          lastUsedAt: session.lastUsedAt.toISOString(),
        })),
      }),
      guards,
    ),
    route(
      {
        method: 'delete',
        path: '/auth/sessions/:id',
        summary: 'End a session with its access token',
        credential: 'session',
        limit: 'reads',
        input: factorInput.extend({
          id: requiredText('session_not_found').pipe(z.uuid('session_not_found')),
        }),
        bodyOfDelete: true,
        invalid: 'invalid_code',
        output: done,
        errors: ['session_not_found', ...endErrors],
      },
      async ({ id, ...presented }, ctx) => {
        const who = signedIn(ctx)
        if (await isOwnSession(db, who, id)) {
          await revokeSession(db, who.sessionHash)
          clearSessionCookie(ctx, publicUrl)
        } else {
          await requireFresh(services, who, presented)
          await endSession(whileOpen(services, who), who, id)
        }
      },
      guards,
    ),
    route(
      {
        method: 'delete',
        path: '/auth/sessions',
        summary: 'End all other sessions with their access tokens',
        credential: 'session',
        limit: 'reads',
        input: factorInput,
        bodyOfDelete: true,
        invalid: 'invalid_code',
        output: done,
        errors: [...endErrors],
      },
      async (presented, ctx) => {
        const who = signedIn(ctx)
        await requireFresh(services, who, presented)
        await endOtherSessions(whileOpen(services, who), who)
      },
      guards,
    ),
  ]
}
