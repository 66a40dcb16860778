import type { Context } from 'koa'

/** The token of `Authorization: Bearer <token>` (RFC 6750, 2.1; the scheme in any case), if there is one. */
export function readBearer(ctx: Context): string | undefined {
  return /^bearer +([\w.~+/-]+=*) *$/i.exec(ctx.get('Authorization'))?.[1]
}
