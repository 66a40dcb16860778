import { z } from 'zod'
import { type Route, route } from '../../http/endpoint.js'
import { requiredText } from '../../http/input.js'
import { clearSessionCookie } from '../../http/security/credentials.js'
import { refuseCrossSite } from '../../http/security/cross-site.js'
import { noStore } from '../../http/security/response-headers.js'
import type { Services } from '../../services.js'
import { type AnyEndpoint, done, nothing } from '../schemas.js'
import { requireSession, signedIn } from './auth.js'
import { endOtherSessions, endSession } from './end-sessions.js'
import { listSessions } from './list-sessions.js'

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

const listEndpoint = {
  method: 'get',
  path: '/auth/sessions',
  summary: 'The open sessions, newest first',
  credential: 'session',
  limit: 'reads',
  input: nothing,
  invalid: 'unauthorized',
  output: sessionsAnswer,
  errors: [],
} as const satisfies AnyEndpoint

const endEndpoint = {
  method: 'delete',
  path: '/auth/sessions/:id',
  summary: 'End a session with its access token',
  credential: 'session',
  limit: 'reads',
  input: z.object({ id: requiredText('session_not_found').pipe(z.uuid('session_not_found')) }),
  invalid: 'session_not_found',
  output: done,
  errors: ['unauthorized', 'forbidden'],
} as const satisfies AnyEndpoint

const endOthersEndpoint = {
  method: 'delete',
  path: '/auth/sessions',
  summary: 'End all other sessions with their access tokens',
  credential: 'session',
  limit: 'reads',
  input: nothing,
  invalid: 'unauthorized',
  output: done,
  errors: ['forbidden'],
} as const satisfies AnyEndpoint

/** Ending sessions stays possible while the account is frozen. */
export function sessionRoutes(services: Pick<Services, 'config' | 'db' | 'transact'>): Route[] {
  const { config, db } = services
  const { publicUrl } = config.http
  const guards = [noStore, requireSession(services), refuseCrossSite(publicUrl)]
  return [
    route(
      listEndpoint,
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
      endEndpoint,
      async ({ id }, ctx) => {
        const { current } = await endSession(db, signedIn(ctx), id)
        if (current) clearSessionCookie(ctx, publicUrl)
        return {}
      },
      guards,
    ),
    route(
      endOthersEndpoint,
      async (_, ctx) => {
        await endOtherSessions(services, signedIn(ctx))
        return {}
      },
      guards,
    ),
  ]
}
