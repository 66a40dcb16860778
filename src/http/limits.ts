import { createHash } from 'node:crypto'
import type { Context, Middleware } from 'koa'
import { DomainError } from '../kernel/errors.js'
import type { Count } from '../platform/rate-limits/memory-counter.js'
import type { LimitName, RateLimit } from '../platform/rate-limits/rate-limits.js'
import { clientAddress } from './client-address.js'

/** A limit that binds something else than the caller's address, such as a user, an API key or an e-mail. */
export interface KeyedLimit<Input> {
  readonly name: LimitName
  /** A limit per address that stands before it, where the caller chooses the key: made-up ones are new every time. */
  readonly address?: LimitName
  /** Whom it binds; called with the parsed request, behind the guards. Only a hash of it is kept. */
  key(input: Input, ctx: Context): string
}

/** An endpoint's limit: a name alone counts per address, before anything else is looked at. */
export type Limit<Input> = LimitName | KeyedLimit<Input>

/** What of an endpoint's limit counts per address. */
export function addressLimit(limit: Limit<never>): LimitName | undefined {
  return typeof limit === 'string' ? limit : limit.address
}

/** Headers that tell a caller where it stands; browsers on other sites must be allowed to read them. */
export const limitHeaders = [
  'Retry-After',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
] as const

/** Lets a reader come back when browsers' event sources would. */
const streamRetrySeconds = 10

/**
 * Counts per client address, once a request however often it stands in its way; undefined lets everybody through.
 * Without a promise of its own where the count is the process's: it stands on the hottest path.
 */
export function limitByAddress(limit: RateLimit | undefined): Middleware {
  if (limit === undefined) return (_, next) => next()
  return (ctx, next) => {
    if (ctx.state['counted'] === limit) return next()
    ctx.state['counted'] = limit
    const count = limit.hit(clientAddress(ctx))
    if (count instanceof Promise)
      return count.then((shared) => {
        admit(ctx, limit.most, shared)
        return next()
      })
    admit(ctx, limit.most, count)
    return next()
  }
}

/** Counts per key. Throws `too_many_requests`. Keys are e-mails, API keys and the like: they are hashed before they leave. */
export async function limitByKey(limit: RateLimit, key: string, ctx: Context): Promise<void> {
  admit(ctx, limit.most, await limit.hit(createHash('sha256').update(key).digest('base64url')))
}

/** At most so many open streams per client address; a place is free again when its connection closes. */
export function limitOpenStreams(most: number): Middleware {
  const open = new Map<string, number>()
  function leave(address: string): void {
    const left = (open.get(address) ?? 0) - 1
    if (left > 0) open.set(address, left)
    else open.delete(address)
  }
  return (ctx, next) => {
    const address = clientAddress(ctx)
    const before = open.get(address) ?? 0
    if (before >= most) refuse(ctx, streamRetrySeconds)
    // A connection that is gone already has told so, and will not tell again.
    if (ctx.res.destroyed) return next()
    open.set(address, before + 1)
    ctx.res.once('close', () => leave(address))
    return next()
  }
}

function admit(ctx: Context, most: number, { hits, msLeft }: Count): void {
  ctx.set('X-RateLimit-Limit', String(most))
  ctx.set('X-RateLimit-Remaining', String(Math.max(0, most - hits)))
  ctx.set('X-RateLimit-Reset', String(Math.ceil((Date.now() + msLeft) / 1000)))
  if (hits > most) refuse(ctx, Math.max(1, Math.ceil(msLeft / 1000)))
}

function refuse(ctx: Context, seconds: number): never {
  ctx.set('Retry-After', String(seconds))
  ctx.set('Cache-Control', 'no-store')
  throw new DomainError('too_many_requests')
}
