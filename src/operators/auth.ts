import { createHash, timingSafeEqual } from 'node:crypto'
import type { Middleware } from 'koa'
import { MemoryCounter } from '../platform/rate-limits/memory-counter.js'

export interface OperatorsLogin {
  readonly user: string
  readonly password: string
}

const failuresPerMinute = 20

/**
 * Lets through who knows user and password (RFC 7617), compared in a time that does not depend on how much of them is
 * right. After twenty failures in a minute an address is not listened to until the minute is over.
 */
export function requireLogin({ user, password }: OperatorsLogin): Middleware {
  const wanted = digest(`${user}:${password}`)
  const failures = new MemoryCounter(60)
  const failed = new Map<string, number>()
  return (ctx, next) => {
    const address = ctx.req.socket.remoteAddress ?? ''
    if ((failed.get(address) ?? 0) > performance.now()) {
      ctx.status = 429
      ctx.body = 'Too many failed attempts\n'
      return undefined
    }
    const [, encoded = ''] = /^basic +([\w+/=]+) *$/i.exec(ctx.get('Authorization')) ?? []
    if (timingSafeEqual(digest(Buffer.from(encoded, 'base64').toString('utf8')), wanted)) return next()
    const { hits, msLeft } = encoded === '' ? { hits: 0, msLeft: 0 } : failures.hit(address)
    if (hits >= failuresPerMinute) failed.set(address, performance.now() + msLeft)
    ctx.status = 401
    ctx.set('WWW-Authenticate', 'Basic realm="operators", charset="UTF-8"')
    ctx.body = 'Unauthorized\n'
    return undefined
  }
}

/** Of one length whatever was given, as the comparison needs. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
