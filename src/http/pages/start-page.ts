import type { Context, Middleware } from 'koa'
import { plainPage, sendPlainPage } from './plain-page.js'

const manual = { href: '/docs', text: 'Manual for developers' }
const fiveMinutes = 'public, max-age=300'

const start = plainPage({
  title: 'Tips in crypto and naira',
  lead: 'Creators share a link, see each tip the moment it arrives, and withdraw to a Nigerian bank.',
  links: [
    { href: '/dashboard', text: 'Sign in' },
    { href: '/dashboard#register', text: 'Create an account' },
    manual,
  ],
  note: 'To tip somebody, open the link or the site of that creator.',
})

const missing = plainPage({
  title: 'Page not found',
  lead: 'There is no page at this address. Check the address for a typing mistake, or go on from here.',
  links: [{ href: '/', text: 'Start page' }, { href: '/dashboard', text: 'Dashboard' }, manual],
})

/** `GET /`: a page for browsers. Other clients get the API's 404, because the API has no such path. */
export const serveStartPage: Middleware = async (ctx) => {
  if (!asksForHtml(ctx)) return
  ctx.set('Cache-Control', fiveMinutes)
  sendPlainPage(ctx, start)
}

/**
 * Answers a browser with a page where no route has an answer. Other clients get the API's 404. `apiRoots`: the first
 * parts of the API's paths. They answer JSON only, because HTTP libraries exist that ask for HTML by default.
 */
export function answerMissingPages(apiRoots: ReadonlySet<string>): Middleware {
  return async (ctx, next) => {
    await next()
    const [, root = ''] = ctx.path.toLowerCase().split('/')
    const isRead = ctx.method === 'GET' || ctx.method === 'HEAD'
    if (ctx.status === 404 && ctx.body == null && isRead && !apiRoots.has(root) && asksForHtml(ctx))
      sendPlainPage(ctx, missing, 404)
  }
}

/** Whether the request prefers HTML. `*` alone means JSON. */
function asksForHtml(ctx: Context): boolean {
  ctx.vary('Accept')
  return ctx.accepts('json', 'html') === 'html'
}
