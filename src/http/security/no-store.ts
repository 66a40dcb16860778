import type { Middleware } from 'koa'

/** For answers that carry credentials or change by the second: no cache may keep them, refusals included. */
export const noStore: Middleware = async (ctx, next) => {
  ctx.set('Cache-Control', 'no-store')
  await next()
}
