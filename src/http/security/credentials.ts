import type { Context } from 'koa'

const dayMs = 24 * 3600 * 1000

/** Reads the token of `Authorization: Bearer <token>` (RFC 6750, 2.1; the scheme ignores case), if there is one. */
export function readBearer(ctx: Context): string | undefined {
  return /^bearer +([\w.~+/-]+=*) *$/i.exec(ctx.get('Authorization'))?.[1]
}

/**
 * The session cookie's name. Over https it has the `__Host-` prefix: browsers then accept it from this host only, so a
 * sibling subdomain cannot set it.
 */
export function sessionCookieName(publicUrl: string): string {
  return isSecure(publicUrl) ? '__Host-session' : 'session'
}

/** Reads the session token, if there is one. */
export function readSessionCookie(ctx: Context, publicUrl: string): string | undefined {
  return ctx.cookies.get(sessionCookieName(publicUrl)) || undefined
}

/** Sets the session cookie. The browser deletes it after `maxAgeDays`. */
export function setSessionCookie(ctx: Context, publicUrl: string, token: string, maxAgeDays: number): void {
  write(ctx, publicUrl, token, maxAgeDays * dayMs)
}

/** Deletes the session cookie in the browser. */
export function clearSessionCookie(ctx: Context, publicUrl: string): void {
  write(ctx, publicUrl, null, 0)
}

function write(ctx: Context, publicUrl: string, value: string | null, maxAge: number): void {
  const secure = isSecure(publicUrl)
  // Behind a proxy that ends TLS, our connection is plain http. The public URL decides.
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

/** Whether browsers reach the service over https. */
export function isSecure(publicUrl: string): boolean {
  return new URL(publicUrl).protocol === 'https:'
}
