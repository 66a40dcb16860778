import type { Middleware } from 'koa'
import { plainPage, sendPlainPage } from './plain-page.js'

/** The fiat provider redirects supporters here after the payment, in the tab in which they paid. */
export const paidPath = '/paid'

const fiveMinutes = 'public, max-age=300'
const document = plainPage({
  title: 'You can close this tab.',
  lead: 'The page you came from updates by itself.',
})

/**
 * `GET /paid`: the last page of the provider's tab. It says nothing about the payment and does not read the query (the
 * provider adds its reference there). It has no script, because in-app browsers of banks may not run scripts.
 */
export const servePaidPage: Middleware = async (ctx) => {
  ctx.set('Cache-Control', fiveMinutes)
  sendPlainPage(ctx, document)
}
