import type { Middleware } from 'koa'
import { staticPagePolicy } from '../security/response-headers.js'
import type { Pages } from './built-pages.js'
import { html } from './html.js'

/** The fiat provider redirects supporters here after the payment, in the tab in which they paid. */
export const paidPath = '/paid'

const fiveMinutes = 'public, max-age=300'

/**
 * `GET /paid`: the last page of the provider's tab, with the checkout's styles. It says nothing about the payment and
 * does not read the query (the provider adds its reference there). It has no script, because in-app browsers of banks
 * may not run scripts.
 */
export function servePaidPage(pages: Pages): Middleware {
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
    ctx.set('Cache-Control', fiveMinutes)
    ctx.set('Content-Security-Policy', staticPagePolicy)
    ctx.set('Cross-Origin-Opener-Policy', 'same-origin')
    ctx.type = 'text/html; charset=utf-8'
    ctx.body = text
  }
}
