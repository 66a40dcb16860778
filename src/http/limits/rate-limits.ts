import { createHash } from 'node:crypto'
import type { Context, Middleware } from 'koa'
import { DomainError, type ErrorCode } from '../../kernel/errors.js'
import type { HitCount } from '../../platform/rate-limits/memory-counter.js'
import type { LimitName, RateLimit } from '../../platform/rate-limits/rate-limits.js'
import { clientAddress } from './client-address.js'

/** A limit that counts by something other than the client address, such as a user, an API key or an e-mail. */
export interface KeyedLimit<Input> {
  readonly name: LimitName
  /** An additional limit per client address, needed where a caller can invent new keys. It is checked first. */
  readonly address?: LimitName
  /** The key to count by. Called with the parsed request, after the guards. Only a hash of it is stored. */
  key(input: Input, ctx: Context): string
}

/** An endpoint's limit. A name alone counts per client address, before anything else is checked. */
export type Limit<Input> = LimitName | KeyedLimit<Input>

/** The part of an endpoint's limit that counts per client address. */
export function addressLimit(limit: Limit<never>): LimitName | undefined {
  return typeof limit === 'string' ? limit : limit.address
}

/**
 * The headers that report the limit: `X-RateLimit-*` the one that was counted last, `RateLimit` each of them
 * (draft-ietf-httpapi-ratelimit-headers).
 */
export const limitHeaders = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit-Policy',
  'RateLimit',
] as const

/** The same as the `retry` field of the streams (http/sse.ts). */
const streamRetrySeconds = 10

/**
 * Counts requests per client address. A request is counted once, even if the middleware runs twice for it. Without a
 * limit it passes every request. It adds no promise where the count is in memory, because it runs on the hottest path.
 */
export function limitByAddress(limit: RateLimit | undefined): Middleware {
  if (limit === undefined) return (_, next) => next()
  return (ctx, next) => {
    if (ctx.state['counted'] === limit) return next()
    ctx.state['counted'] = limit
    const count = limit.hit(clientAddress(ctx))
    if (count instanceof Promise)
      return count.then((shared) => {
        applyCount(ctx, limit, shared)
        return next()
      })
    applyCount(ctx, limit, count)
    return next()
  }
}

/** Counts requests per key. Keys are e-mails, API keys and the like, so only their hashes are stored. */
export async function limitByKey(limit: RateLimit, key: string, ctx: Context): Promise<void> {
  applyCount(ctx, limit, await limit.hit(createHash('sha256').update(key).digest('base64url')))
}

/**
 * Limits the attempts per key that fail with `failure`. An attempt counts from its start, so that many at the
 * same time cannot pass the limit; one that does not fail so is taken back.
 */
export async function limitFailures<T>(
  limit: RateLimit | undefined,
  { failure, key }: { readonly failure: ErrorCode; readonly key: string },
  ctx: Context,
  attempt: () => Promise<T>,
): Promise<T> {
  if (limit === undefined) return attempt()
  const count = await limit.hit(key)
  // An attempt that does not fail is not counted, so what is left is told only when nothing is.
  if (count.hits > limit.maxHits) applyCount(ctx, limit, count)
  let failed = false
  try {
    return await attempt()
  } catch (error) {
    failed = error instanceof DomainError && error.code === failure
    throw error
  } finally {
    if (!failed) await limit.takeBack(key)
  }
}

/** Limits the open streams per client address. A stream counts until its connection closes. */
export function limitOpenStreams(most: number): Middleware {
  const open = new Map<string, number>()
  function release(address: string): void {
    const remaining = (open.get(address) ?? 0) - 1
    if (remaining > 0) open.set(address, remaining)
    else open.delete(address)
  }
  return async (ctx, next) => {
    const address = clientAddress(ctx)
    const current = open.get(address) ?? 0
    if (current >= most) refuse(ctx, streamRetrySeconds)
    open.set(address, current + 1)
    const { socket } = ctx.req
    try {
      await next()
    } finally {
      // A stream has taken the response over. It leaves the response behind, so only the socket knows its end.
      if (ctx.respond === false && !socket.destroyed) socket.once('close', () => release(address))
      else release(address)
    }
  }
}

/** Sets the limit's headers and refuses the request when the limit is exceeded. */
function applyCount(ctx: Context, { name, maxHits, seconds }: RateLimit, { hits, msLeft }: HitCount): void {
  const left = Math.max(0, maxHits - hits)
  const secondsLeft = Math.max(1, Math.ceil(msLeft / 1000))
  ctx.set('X-RateLimit-Limit', String(maxHits))
  ctx.set('X-RateLimit-Remaining', String(left))
  ctx.set('X-RateLimit-Reset', String(Math.ceil((Date.now() + msLeft) / 1000)))
  addItem(ctx, 'RateLimit-Policy', `"${name}";q=${maxHits};w=${seconds}`)
  addItem(ctx, 'RateLimit', `"${name}";r=${left};t=${secondsLeft}`)
  if (hits > maxHits) refuse(ctx, secondsLeft)
}

/** Adds an item to a header that is a list: a call may be counted by address and by key. */
function addItem({ res }: Context, header: string, item: string): void {
  const before = res.getHeader(header)
  res.setHeader(header, before === undefined ? item : `${before}, ${item}`)
}

function refuse(ctx: Context, seconds: number): never {
  ctx.set('Retry-After', String(seconds))
  ctx.set('Cache-Control', 'no-store')
  throw new DomainError('too_many_requests')
}
