import type { Context, Middleware } from 'koa'
import type { Pages } from '../http/pages/built-pages.js'
import { sendPage } from '../http/pages/send-page.js'
import type { Services } from '../services.js'
import { findEmbed } from './session.js'

/** For an address that names no session: without one there is nothing a script could ask. */
const nobodysPage =
  '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">' +
  '<title>Tip</title><main><h1>This tip link has expired.</h1><p>Go back to the page and open it again.</p></main></html>\n'

/** A coin: what a wallet shows beside a payment request. */
const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><circle cx="32" cy="32" r="30" fill="#14f195"/>' +
  '<path d="M32 14v36M22 24h20M22 40h20" stroke="#111" stroke-width="5" stroke-linecap="round"/></svg>\n'

export const iconPath = '/pay-icon.svg'

/**
 * `GET /embed/:embedId`: the checkout of a session's embed, which only the session's own site may frame. The session token
 * is in the fragment of its address, which no server ever sees.
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
      sendNobodysPage(ctx)
      return
    }
    const asked = ctx.query['theme']
    sendPage(ctx, pages, {
      name: 'checkout',
      title: 'Tip',
      theme: asked === 'light' || asked === 'dark' ? asked : embed.theme,
      data: { 'parent-origin': embed.origin },
      policy: { frameAncestors: embed.origin, connect },
      // A window the page opens must be able to report back.
      keepsOpener: true,
    })
    ctx.set('Cross-Origin-Resource-Policy', 'cross-origin')
  }
}

function sendNobodysPage(ctx: Context): void {
  ctx.status = 404
  ctx.set('Cache-Control', 'no-store')
  ctx.set(
    'Content-Security-Policy',
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  )
  ctx.type = 'text/html; charset=utf-8'
  ctx.body = nobodysPage
}

/** `GET /pay-icon.svg`, which wallets load from wherever they run. */
export const serveIcon: Middleware = async (ctx) => {
  ctx.set('Cross-Origin-Resource-Policy', 'cross-origin')
  ctx.set('Cache-Control', 'public, max-age=86400')
  ctx.type = 'image/svg+xml'
  ctx.body = icon
}
