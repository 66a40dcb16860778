import type { Knex } from 'knex'
import type { Context, Middleware } from 'koa'
import { isSignedIn, signedIn, userOf } from '../accounts/sessions/auth.js'
import { isOpenSession } from '../accounts/sessions/session.js'
import type { KeyedLimit } from '../http/limits/rate-limits.js'
import { readBearer } from '../http/security/credentials.js'
import { DomainError } from '../kernel/errors.js'
import { hashSecret } from '../kernel/ids.js'
import { query } from '../platform/database/database.js'
import type { Services } from '../services.js'
import { findKeyOwner, isOpenKey } from './api-keys.js'

/** Paths that need a session, which an API key opens too. */
export const keyPath = /^\/(creators\/(events|stream)|test\/.+)\/?$/i

/** Requires a session, which app.ts has checked, or else an open API key. */
export function requireOwner(services: Pick<Services, 'db' | 'config'>): Middleware {
  return async (ctx, next) => {
    const owner = isSignedIn(ctx) ? userOf(ctx) : await findKeyOwner(services, readBearer(ctx) ?? '')
    if (owner === undefined) throw new DomainError('invalid_api_key')
    ctx.state['owner'] = owner
    await next()
  }
}

/** Whose request it is. Only for routes behind the guard above. */
export function ownerOf(ctx: Context): string {
  const owner: string | undefined = ctx.state['owner']
  if (owner === undefined) throw new Error('This route has no owner')
  return owner
}

/** What opened the request, for `findValidCredentials`. Only for routes behind the guard above. */
export function credentialOf(ctx: Context): string {
  const hash = isSignedIn(ctx) ? signedIn(ctx).sessionHash : hashSecret(readBearer(ctx) ?? '')
  return hash.toString('hex')
}

/** Of these sessions and API keys those that are valid. One statement: a process asks about all its open streams. */
export async function findValidCredentials(db: Knex, credentials: readonly string[]): Promise<string[]> {
  const rows = await query<{ credential: string }>(db, {
    name: 'streams.valid-credentials',
    text: /* sql */ `
      with asked as (select credential, decode(credential, 'hex') as hash from unnest($1::text[]) as a (credential))
      select a.credential from asked a join sessions s on s.token_hash = a.hash where ${isOpenSession}
      union all
      select a.credential from asked a join api_keys k on k.key_hash = a.hash where ${isOpenKey}`,
    values: [credentials],
  })
  return rows.map(({ credential }) => credential)
}

export const perOwner: KeyedLimit<unknown> = {
  name: 'apiKey',
  address: 'sdkAddress',
  key: (_, ctx) => ownerOf(ctx),
}
