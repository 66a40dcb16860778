import cors from '@koa/cors'
import Koa, { type Middleware } from 'koa'
import { accountRoutes } from './accounts/routes.js'
import { requireSession } from './accounts/sessions/auth.js'
import { creatorRoutes } from './creators/routes.js'
import { fiatRoutes } from './fiat/routes.js'
import { answerErrors } from './http/errors.js'
import { limitByAddress, limitHeaders } from './http/limits.js'
import { mount } from './http/mount.js'
import { openApiDocument } from './http/openapi.js'
import { loadPages, type Pages, serveAssets, serveEmbedScript } from './http/pages/built-pages.js'
import { serveDashboard, serveOverlay } from './http/pages/creator-pages.js'
import { paidPath, servePaid } from './http/pages/paid-page.js'
import { isSecure, sessionCookieName } from './http/security/cookies.js'
import { refuseCrossSite } from './http/security/cross-site.js'
import { noStore } from './http/security/no-store.js'
import { securityHeaders } from './http/security/security-headers.js'
import { HeartbeatWheel } from './http/sse.js'
import { serveWebhook } from './http/webhook.js'
import { paymentRoutes } from './intents/routes.js'
import { ledgerRoutes } from './ledger/routes.js'
import type { OpenApi } from './manual/read-openapi.js'
import { mountDocs } from './manual/routes.js'
import { ExchangeRates } from './market/exchange-rates.js'
import { TokenPrices } from './market/token-prices.js'
import { iconPath, serveEmbed, serveIcon } from './sdk/embed.js'
import { sdkRoutes } from './sdk/routes.js'
import type { Services } from './services.js'
import { creatorTipRoutes } from './tips/read/creator-routes.js'
import { TipStreams } from './tips/read/stream.js'
import { StreamHub } from './tips/read/stream-hub.js'
import { tipRoutes } from './tips/routes.js'
import { receiveWebhook } from './withdrawals/reconcile/receive-webhook.js'
import { payoutRoutes } from './withdrawals/routes.js'

export interface App {
  readonly koa: Koa
  /** Ends the open streams and stops looking for new tips. */
  close(): Promise<void>
}

/**
 * Public routes are for any page (no credentials); account routes answer only their own site. In any case of
 * letters, because the router takes any.
 */
const publicPath = /^\/(sdk|payments|chain|pay)\//i
/** For the cookie's owner alone, whatever is asked below. */
const ownPath = /^\/(creators|payouts)(\/|$)/i
/** What is answered here changes by the second, refusals included (contract: Cache-Control on every answer). */
const fiatPath = /^\/payments\/fiat\//i
const openApiPath = '/openapi.json'

/** The whole HTTP face: every feature's routes, mounted once, and the document made from the same list. */
export function createApp(services: Services, pages: Pages = loadPages()): App {
  const { config } = services
  const wheel = new HeartbeatWheel()
  const hub = new StreamHub(services)
  const prices = new TokenPrices(services)
  const rates = new ExchangeRates(services)
  const streams = new TipStreams(services, hub, wheel)
  const routes = [
    ...accountRoutes(services),
    ...ledgerRoutes(services),
    ...creatorRoutes(services),
    ...paymentRoutes(services, prices),
    ...fiatRoutes(services, rates),
    ...payoutRoutes(services, rates),
    ...tipRoutes(services, streams),
    ...creatorTipRoutes(services),
    ...sdkRoutes(services, prices),
  ]
  const { publicUrl } = config.http
  const document = openApiDocument(routes, publicUrl, sessionCookieName(publicUrl))
  const documentText = JSON.stringify(document)

  // Only the entry our own proxy appended counts: whatever stands before it, the caller may have written.
  const koa = new Koa({ proxy: config.http.trustProxy, maxIpsCount: 1 })
  koa.use(answerErrors(services.log, services.metrics))
  // A connection that breaks while it is answered is the caller's affair; Koa would print it.
  koa.on('error', (error: unknown) => services.log.debug({ err: error }, 'a connection broke'))
  koa.use(securityHeaders(isSecure(publicUrl)))
  koa.use(publicCors())
  koa.use((ctx, next) => (fiatPath.test(ctx.path) ? noStore(ctx, next) : next()))
  const countRead = limitByAddress(services.limits.of('reads'))
  // Before routing: without a session nobody learns which of these paths and methods there are.
  const ownGuards = [countRead, noStore, requireSession(services), refuseCrossSite(publicUrl)]
  for (const guard of ownGuards) koa.use((ctx, next) => (ownPath.test(ctx.path) ? guard(ctx, next) : next()))
  const router = mount(routes, services.limits)
  router.get(openApiPath, (ctx) => {
    ctx.type = 'application/json'
    ctx.body = documentText
  })
  // The document is written for every reader of OpenAPI; ours knows which parts of it there always are.
  const known = document as unknown as OpenApi
  mountDocs(router, countRead, known, { base: publicUrl, limits: services.limits })
  router.get('/embed/:embedId', countRead, serveEmbed(services, pages))
  router.get(['/dashboard', '/dashboard/:screen'], countRead, serveDashboard(config, pages))
  router.get('/overlay', countRead, serveOverlay(pages))
  router.get(paidPath, countRead, servePaid(pages))
  router.get('/assets/:name', serveAssets(pages))
  router.get('/embed.js', serveEmbedScript(pages))
  router.get(iconPath, serveIcon)
  router.post(
    '/webhooks/fiatpay',
    limitByAddress(services.limits.of('webhooks')),
    serveWebhook((raw, header) => receiveWebhook(services, raw, header)),
  )
  koa.use(router.routes())
  koa.use(router.allowedMethods())
  return {
    koa,
    async close() {
      streams.close()
      wheel.close()
      await hub.close()
    },
  }
}

function publicCors(): Middleware {
  const answer = cors({
    origin: '*',
    allowMethods: 'GET,POST',
    exposeHeaders: ['X-Request-Id', 'Idempotency-Hit', ...limitHeaders],
    maxAge: 600,
  })
  return (ctx, next) => (publicPath.test(ctx.path) ? answer(ctx, next) : next())
}
