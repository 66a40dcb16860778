import type { Middleware } from 'koa'
import { stillPagePolicy } from '../security/security-headers.js'
import type { Pages } from './built-pages.js'
import { html } from './html.js'

/** Where the fiat provider sends people back to, in the tab they paid in; it adds its reference to the query. */
export const paidPath = '/paid'

const aWhile = 'public, max-age=300'

/**
 * `GET /paid`: the end of the provider's tab, in the checkout's clothes. It does not know what became of the payment and
 * claims nothing; the query is not read. Nothing runs on it: banks' own browsers may have scripts off.
 */
export function servePaid(pages: Pages): Middleware {
  const { styles } = pages.files('checkout')
  const { text } = html`<!doctype html>
<html lang="en" data-theme="light" data-framed="false">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>You can close this tab</title>
<link rel="icon" href="/pay-icon.svg" type="image/svg+xml">
${styles.map((path) => html`<link rel="stylesheet" href="${path}">`)}
</head>
<body>
<main class="sheet">
<section class="outcome outcome--plain">
<div class="outcome__text"><h1>You can close this tab.</h1><p>The page you came from updates by itself.</p></div>
</section>
</main>
</body>
</html>
`
  return async (ctx) => {
    ctx.set('Cache-Control', aWhile)
    ctx.set('Content-Security-Policy', stillPagePolicy)
    ctx.set('Cross-Origin-Opener-Policy', 'same-origin')
    ctx.type = 'text/html; charset=utf-8'
    ctx.body = text
  }
}
