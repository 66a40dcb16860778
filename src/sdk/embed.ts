import type { Context, Middleware } from 'koa'
import { rateOfPage } from '../fiat/rate-of-page.js'
import type { Pages } from '../http/pages/built-pages.js'
import { chooseLanguage } from '../http/pages/language.js'
import { plainPage, sendPlainPage } from '../http/pages/plain-page.js'
import { sendPage } from '../http/pages/send-page.js'
import type { ExchangeRates } from '../market/exchange-rates.js'
import type { Services } from '../services.js'
import { findEmbed } from './sessions/session.js'

/** The page for an unknown or expired embed. It has no script: without a session a script has nothing to request. */
const expiredPage = plainPage({
  title: 'This tip link has expired.',
  lead: 'Go back to the page and open it again.',
})

/**
 * `GET /embed/:embedId`: the checkout page of a session's embed. Only the session's own site may frame it. The session
 * token is in the URL's fragment, which browsers do not send to servers.
 */
export function serveEmbed(
  { db, config }: Pick<Services, 'db' | 'config'>,
  rates: ExchangeRates,
  pages: Pages,
): Middleware {
  const connect = rpcOrigins(config)
  return async (ctx) => {
    const embed = await findEmbed(db, String(ctx['params'].embedId))
    if (embed === undefined) {
      sendExpiredPage(ctx)
      return
    }
    const theme = ctx.query['theme']
    sendPage(ctx, pages, {
      name: 'checkout',
      title: 'Tip',
      language: chooseLanguage(ctx),
      theme: theme === 'light' || theme === 'dark' ? theme : embed.theme,
      data: { 'parent-origin': embed.origin, ...(await rateOfPage(config, rates)) },
      policy: { frameAncestors: embed.origin, connect },
      // Windows that the page opens send their result back to it.
      keepsOpener: true,
    })
    ctx.set('Cross-Origin-Resource-Policy', 'cross-origin')
  }
}

/** Where a checkout submits transactions and reads balances. */
export function rpcOrigins({ chain }: Pick<Services['config'], 'chain'>): string[] {
  const { publicRpcUrl, publicBundleRpcUrl } = chain
  const origins = [publicRpcUrl, publicBundleRpcUrl].flatMap((url) =>
    url === undefined ? [] : [new URL(url).origin],
  )
  return [...new Set(origins)]
}

function sendExpiredPage(ctx: Context): void {
  ctx.set('Cache-Control', 'no-store')
  sendPlainPage(ctx, expiredPage, 404)
}
