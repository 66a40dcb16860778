import type { Middleware } from 'koa'
import { accent } from '../../kernel/brand.js'

/** A coin. Wallets show it next to a payment request, browsers in the tab. */
const icon =
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><circle cx="32" cy="32" r="30" fill="${accent.light}"/>` +
  '<path d="M32 14v36M22 24h20M22 40h20" stroke="#fff" stroke-width="5" stroke-linecap="round"/></svg>\n'

export const iconPath = '/pay-icon.svg'
/** Browsers request it for documents that name no icon, such as JSON. */
export const faviconPath = '/favicon.ico'

/** `GET /pay-icon.svg`, `GET /favicon.ico`. Wallets load it from any origin. */
export const serveIcon: Middleware = async (ctx) => {
  ctx.set('Cross-Origin-Resource-Policy', 'cross-origin')
  ctx.set('Cache-Control', 'public, max-age=86400')
  ctx.type = 'image/svg+xml'
  ctx.body = icon
}
