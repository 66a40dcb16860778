import type { Context } from 'koa'

const dayMs = 24 * 3600 * 1000

/** Reads the token of `Authorization: Bearer <token>` (RFC 6750, 2.1; the scheme ignores case), if there is one. */
export function readBearer(ctx: Context): string | undefined {
  return /^bearer +([\w.~+/-]+=*) *$/i.exec(ctx.get('Authorization'))?.[1]
}

type CookieName = 'session' | 'device'

/** Over https a cookie has the `__Host-` prefix: browsers then accept it from this host only, so a sibling subdomain cannot set it. */
export function cookieName(publicUrl: string, name: CookieName): string {
  return isSecure(publicUrl) ? `__Host-${name}` : name
}

/** Reads a cookie, if there is one. */
export function readCookie(ctx: Context, publicUrl: string, name: CookieName): string | undefined {
  return ctx.cookies.get(cookieName(publicUrl, name)) || undefined
}

/** Reads the session token, if there is one. */
export function readSessionCookie(ctx: Context, publicUrl: string): string | undefined {
  return readCookie(ctx, publicUrl, 'session')
}

/** Sets the session cookie. The browser deletes it after `maxAgeDays`. */
export function setSessionCookie(ctx: Context, publicUrl: string, token: string, maxAgeDays: number): void {
  setCookie(ctx, publicUrl, { name: 'session', value: token, maxAgeDays })
}

/** Deletes the session cookie in the browser. */
export function clearSessionCookie(ctx: Context, publicUrl: string): void {
  setCookie(ctx, publicUrl, { name: 'session', value: null, maxAgeDays: 0 })
}

interface Cookie {
  readonly name: CookieName
  readonly value: string | null
  readonly maxAgeDays: number
}

/** Sets a cookie that no script can read. */
export function setCookie(ctx: Context, publicUrl: string, { name, value, maxAgeDays }: Cookie): void {
  const secure = isSecure(publicUrl)
  // Behind a proxy that ends TLS, our connection is plain http. The public URL decides.
  ctx.cookies.secure = secure
  ctx.cookies.set(cookieName(publicUrl, name), value, {
    httpOnly: true,
    sameSite: 'lax',
    path: '/',
    secure,
    maxAge: maxAgeDays * dayMs,
    overwrite: true,
  })
}

/** Whether browsers reach the service over https. */
export function isSecure(publicUrl: string): boolean {
  return new URL(publicUrl).protocol === 'https:'
}
