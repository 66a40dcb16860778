import { createHash, timingSafeEqual } from 'node:crypto'
import type { Middleware } from 'koa'
import { MemoryCounter } from '../platform/rate-limits/memory-counter.js'

export interface OperatorsLogin {
  readonly user: string
  readonly password: string
}

const maxFailuresPerMinute = 20

/**
 * Requires the user and the password by HTTP Basic authentication (RFC 7617), compared in constant time. After twenty
 * failures within a minute an address gets 429 until the minute is over, also with the right password.
 */
export function requireLogin({ user, password }: OperatorsLogin): Middleware {
  const expected = digest(`${user}:${password}`)
  const failures = new MemoryCounter(60)
  const blockedUntil = new Map<string, number>()
  return (ctx, next) => {
    const address = ctx.req.socket.remoteAddress ?? ''
    if ((blockedUntil.get(address) ?? 0) > performance.now()) {
      ctx.status = 429
      ctx.body = 'Too many failed attempts\n'
      return undefined
    }
    const [, encoded = ''] = /^basic +([\w+/=]+) *$/i.exec(ctx.get('Authorization')) ?? []
    if (timingSafeEqual(digest(Buffer.from(encoded, 'base64').toString('utf8')), expected)) return next()
    const { hits, msLeft } = encoded === '' ? { hits: 0, msLeft: 0 } : failures.hit(address)
    if (hits >= maxFailuresPerMinute) blockedUntil.set(address, performance.now() + msLeft)
    ctx.status = 401
    ctx.set('WWW-Authenticate', 'Basic realm="operators", charset="UTF-8"')
    ctx.body = 'Unauthorized\n'
    return undefined
  }
}

/** timingSafeEqual compares values of one length only. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
