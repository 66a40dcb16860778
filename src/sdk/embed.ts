import type { Context, Middleware } from 'koa'
import type { Pages } from '../http/pages/built-pages.js'
import { sendPage } from '../http/pages/send-page.js'
import type { Services } from '../services.js'
import { findEmbed } from './session.js'

/** The page for an unknown or expired embed. It has no script: without a session a script has nothing to request. */
const expiredPage =
  '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">' +
  '<title>Tip</title><main><h1>This tip link has expired.</h1><p>Go back to the page and open it again.</p></main></html>\n'

/** A coin. Wallets show it next to a payment request. */
const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><circle cx="32" cy="32" r="30" fill="#14f195"/>' +
  '<path d="M32 14v36M22 24h20M22 40h20" stroke="#111" stroke-width="5" stroke-linecap="round"/></svg>\n'

export const iconPath = '/pay-icon.svg'

/**
 * `GET /embed/:embedId`: the checkout page of a session's embed. Only the session's own site may frame it. The session
 * token is in the URL's fragment, which browsers do not send to servers.
 */
export function serveEmbed({ db, config }: Pick<Services, 'db' | 'config'>, pages: Pages): Middleware {
  const { publicRpcUrl, publicBundleRpcUrl } = config.chain
  const origins = [publicRpcUrl, publicBundleRpcUrl].flatMap((url) =>
    url === undefined ? [] : [new URL(url).origin],
  )
  const connect = [...new Set(origins)]
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
      theme: theme === 'light' || theme === 'dark' ? theme : embed.theme,
      data: { 'parent-origin': embed.origin },
      policy: { frameAncestors: embed.origin, connect },
      // Windows that the page opens send their result back to it.
      keepsOpener: true,
    })
    ctx.set('Cross-Origin-Resource-Policy', 'cross-origin')
  }
}

function sendExpiredPage(ctx: Context): void {
  ctx.status = 404
  ctx.set('Cache-Control', 'no-store')
  ctx.set(
    'Content-Security-Policy',
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  )
  ctx.type = 'text/html; charset=utf-8'
  ctx.body = expiredPage
}

/** `GET /pay-icon.svg`. Wallets load it from any origin. */
export const serveIcon: Middleware = async (ctx) => {
  ctx.set('Cross-Origin-Resource-Policy', 'cross-origin')
  ctx.set('Cache-Control', 'public, max-age=86400')
  ctx.type = 'image/svg+xml'
  ctx.body = icon
}
