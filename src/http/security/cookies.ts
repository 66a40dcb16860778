import type { Context } from 'koa'

const dayMs = 24 * 3600 * 1000

/**
 * The session cookie's name. Over https it has the `__Host-` prefix: browsers then take it only from this very
 * host, secure and for every path, so that no sibling subdomain can plant one.
 */
export function sessionCookieName(publicUrl: string): string {
  return isSecure(publicUrl) ? '__Host-session' : 'session'
}

/** The presented session token, if any. */
export function readSessionCookie(ctx: Context, publicUrl: string): string | undefined {
  return ctx.cookies.get(sessionCookieName(publicUrl)) || undefined
}

/** `maxAgeDays`: when the browser forgets it at the latest. */
export function setSessionCookie(ctx: Context, publicUrl: string, token: string, maxAgeDays: number): void {
  write(ctx, publicUrl, token, maxAgeDays * dayMs)
}

/** Makes the browser forget the session. */
export function clearSessionCookie(ctx: Context, publicUrl: string): void {
  write(ctx, publicUrl, null, 0)
}

function write(ctx: Context, publicUrl: string, value: string | null, maxAge: number): void {
  const secure = isSecure(publicUrl)
  // Behind a proxy that ends TLS the connection itself is plain; what counts is how the browser reaches us.
  ctx.cookies.secure = secure
  ctx.cookies.set(sessionCookieName(publicUrl), value, {
    httpOnly: true,
    sameSite: 'lax',
    path: '/',
    secure,
    maxAge,
    overwrite: true,
  })
}

/** Whether browsers reach us over https. */
export function isSecure(publicUrl: string): boolean {
  return new URL(publicUrl).protocol === 'https:'
}
