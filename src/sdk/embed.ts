import type { Middleware } from 'koa'
import type { Services } from '../services.js'
import { findEmbed } from './session.js'

const page = (theme: string, text: string): string =>
  `<!doctype html><html lang="en" data-theme="${theme}"><meta charset="utf-8">` +
  `<meta name="viewport" content="width=device-width"><title>Tip</title><p role="status">${text}</p></html>\n`

/** A coin: what a wallet shows beside a payment request. */
const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><circle cx="32" cy="32" r="30" fill="#14f195"/>' +
  '<path d="M32 14v36M22 24h20M22 40h20" stroke="#111" stroke-width="5" stroke-linecap="round"/></svg>\n'

export const iconPath = '/pay-icon.svg'

/**
 * `GET /embed/:embedId`: the page of a session's embed, which only the session's own site may frame. The session token
 * is in the fragment of its address, which no server ever sees.
 */
export function serveEmbed({ db }: Pick<Services, 'db'>): Middleware {
  return async (ctx) => {
    const embed = await findEmbed(db, String(ctx['params'].embedId))
    ctx.set('Cache-Control', 'no-store')
    ctx.type = 'text/html; charset=utf-8'
    ctx.set('Content-Security-Policy', policy(embed?.origin ?? "'none'"))
    if (embed === undefined) {
      ctx.status = 404
      ctx.body = page('dark', 'This tip page has expired or never was.')
      return
    }
    // Browsers that know frame-ancestors ignore it, older ones would refuse the very site that may frame us.
    ctx.remove('X-Frame-Options')
    // A window the page opens must be able to report back.
    ctx.set('Cross-Origin-Opener-Policy', 'unsafe-none')
    ctx.set('Cross-Origin-Resource-Policy', 'cross-origin')
    const theme =
      ctx.query['theme'] === 'light' || ctx.query['theme'] === 'dark' ? ctx.query['theme'] : embed.theme
    ctx.body = page(theme, 'The checkout opens here.')
  }
}

/** `GET /pay-icon.svg`, which wallets load from wherever they run. */
export const serveIcon: Middleware = async (ctx) => {
  ctx.set('Cross-Origin-Resource-Policy', 'cross-origin')
  ctx.set('Cache-Control', 'public, max-age=86400')
  ctx.type = 'image/svg+xml'
  ctx.body = icon
}

function policy(ancestors: string): string {
  return `default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors ${ancestors}`
}
