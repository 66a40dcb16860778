import { createHash, timingSafeEqual } from 'node:crypto'
import type { Middleware } from 'koa'
import { clientAddress } from '../http/limits/client-address.js'
import { MemoryCounter } from '../platform/rate-limits/memory-counter.js'

export interface OperatorsLogin {
  readonly user: string
  readonly password: string
}

const maxFailuresPerMinute = 20
/** Of all addresses together, but for those that have logged in. */
const maxFailuresInTotal = 100

/**
 * Requires the user and the password by HTTP Basic authentication (RFC 7617), compared in constant time. After twenty failures within a
 * minute a client's address gets 429 until the minute is over, also with the right password: nothing is compared, so nobody learns that a
 * guess was right. After a hundred failures of all addresses so does each that has not logged in since the process started. Only behind
 * `trustProxies`.
 */
export function requireLogin({ user, password }: OperatorsLogin): Middleware {
  const expected = digest(`${user}:${password}`)
  const failures = new MemoryCounter(60)
  const allFailures = new MemoryCounter(60)
  const known = new Set<string>()
  return (ctx, next) => {
    const [, encoded = ''] = /^basic +([\w+/=]+) *$/i.exec(ctx.get('Authorization')) ?? []
    if (encoded !== '') {
      const address = clientAddress(ctx)
      const isKnown = known.has(address)
      // Every attempt counts until it is found right.
      if (
        failures.hit(address).hits > maxFailuresPerMinute ||
        (!isKnown && allFailures.hit('').hits > maxFailuresInTotal)
      ) {
        ctx.status = 429
        ctx.body = 'Too many failed attempts\n'
        return undefined
      }
      if (timingSafeEqual(digest(Buffer.from(encoded, 'base64').toString('utf8')), expected)) {
        failures.takeBack(address)
        if (!isKnown) allFailures.takeBack('')
        known.add(address)
        return next()
      }
    }
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
