import type { Context, Middleware } from 'koa'
import type { Services } from '../services.js'
import { findByPageHandle } from './handle.js'
import { readPicture } from './picture.js'

const oneYear = 31_536_000
const fiveMinutes = 300

/** Answers with a picture of ours, which other sites and wallets may show. `version`: the one that the address names. */
export function sendPicture(
  ctx: Context,
  type: string,
  { picture, hash }: { readonly picture: Buffer | string; readonly hash: string },
  version?: unknown,
): void {
  ctx.set('Cross-Origin-Resource-Policy', 'cross-origin')
  ctx.set('Access-Control-Allow-Origin', '*')
  ctx.set('Cache-Control', `public, max-age=${version === hash ? `${oneYear}, immutable` : fiveMinutes}`)
  ctx.etag = hash
  ctx.type = type
  ctx.status = 200
  if (ctx.fresh) ctx.status = 304
  else ctx.body = picture
}

/** `GET /@:handle/picture`. */
export function servePicture({ db }: Pick<Services, 'db'>): Middleware {
  return async (ctx) => {
    const owner = await findByPageHandle(db, String(ctx['params'].handle))
    const picture = owner && (await readPicture(db, owner.userId))
    if (picture !== undefined) sendPicture(ctx, 'image/webp', picture, ctx.query['v'])
  }
}
