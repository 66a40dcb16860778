import type { Middleware } from 'koa'
import { testNotice } from '../../kernel/brand.js'
import type { Config } from '../../platform/config/config.js'

const banner = `<aside class="test-banner"><mark>${testNotice}</mark></aside>`

/** A page of a test deployment says so, above everything else and without a script. In live mode it stays as it is. */
export function markPage({ mode }: Pick<Config, 'mode'>, page: string): string {
  return mode === 'test' ? page.replace('<body>', `<body>\n${banner}`) : page
}

/** Marks every page that is answered as text. */
export function markPages(config: Pick<Config, 'mode'>): Middleware {
  return async (ctx, next) => {
    await next()
    if (typeof ctx.body === 'string' && ctx.response.is('html') !== false)
      ctx.body = markPage(config, ctx.body)
  }
}
