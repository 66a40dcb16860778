import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import helmet from 'helmet'
import type { Middleware } from 'koa'

/** For answers that are data: they load nothing, run nothing and may not be framed. */
const apiPolicy = { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } }

const signsWithPasskeys = ['publickey-credentials-create', 'publickey-credentials-get']
/** What a page may do to the people who look at it. None of ours needs any, and none that it frames may have them. */
const noPage = [
  'accelerometer',
  'bluetooth',
  'camera',
  'display-capture',
  'geolocation',
  'gyroscope',
  'hid',
  'magnetometer',
  'microphone',
  'midi',
  'payment',
  'serial',
  'usb',
  'xr-spatial-tracking',
]

/** The value of `Permissions-Policy`. Only a page with `passkeys` may ask for them, and no page that it frames. */
export function permissionsPolicy({ passkeys }: { readonly passkeys: boolean }): string {
  const own = signsWithPasskeys.map((name) => `${name}=${passkeys ? '(self)' : '()'}`)
  return [...noPage.map((name) => `${name}=()`), ...own].join(', ')
}

/**
 * Sets the security headers. They are the same for every answer, so helmet computes them once. `https`: the public URL
 * is https, so Strict-Transport-Security is set.
 */
export function securityHeaders(https: boolean): Middleware {
  const request = new IncomingMessage(new Socket())
  const response = new ServerResponse(request)
  const write = helmet({
    contentSecurityPolicy: apiPolicy,
    crossOriginOpenerPolicy: false,
    strictTransportSecurity: https,
  })
  write(request, response, () => undefined)
  response.setHeader('Permissions-Policy', permissionsPolicy({ passkeys: false }))
  const headers = Object.entries(response.getHeaders()) as [string, string][]
  return (ctx, next) => {
    for (const [name, value] of headers) ctx.res.setHeader(name, value)
    return next()
  }
}

/** Forbids caching, also of errors. For answers that carry credentials or change every second. */
export const noStore: Middleware = async (ctx, next) => {
  ctx.set('Cache-Control', 'no-store')
  await next()
}
