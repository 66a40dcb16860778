import cors from '@koa/cors'
import Router from '@koa/router'
import Koa, { type Middleware } from 'koa'
import { createPasswords } from './accounts/password.js'
import { payoutWalletRoutes } from './accounts/payout-wallets/routes.js'
import { accountRoutes } from './accounts/routes.js'
import { ownerGuards } from './accounts/sessions/auth.js'
import { actionRoutes, serveWallets } from './actions/routes.js'
import { keyPath } from './creators/auth.js'
import { creatorRoutes } from './creators/routes.js'
import { createEventReaders } from './events/routes.js'
import { createLiveStreams } from './events/stream.js'
import { StreamHub } from './events/stream-hub.js'
import { refundRoutes } from './fiat/refunds/routes.js'
import { fiatRoutes } from './fiat/routes.js'
import { answerErrors } from './http/errors/answer-errors.js'
import { compressDocuments } from './http/finish-read.js'
import { refuseWhileOverloaded } from './http/limits/overload.js'
import { limitByAddress, limitHeaders } from './http/limits/rate-limits.js'
import { trustProxies } from './http/limits/trusted-proxies.js'
import { chain, mount } from './http/mount.js'
import { openApiDocument } from './http/openapi/document.js'
import { withComponents } from './http/openapi/name-schemas.js'
import { loadPages, type Pages, serveAssets, serveEmbedScript } from './http/pages/built-pages.js'
import { serveDashboard } from './http/pages/creator-pages.js'
import { faviconPath, iconPath, serveIcon } from './http/pages/icon.js'
import { paidPath, servePaidPage } from './http/pages/paid-page.js'
import { answerMissingPages, serveStartPage } from './http/pages/start-page.js'
import { markPages } from './http/pages/test-banner.js'
import { cookieName, isSecure, readBearer } from './http/security/credentials.js'
import { noStore, securityHeaders } from './http/security/response-headers.js'
import { HeartbeatWheel } from './http/sse.js'
import { serveWebhook } from './http/webhook.js'
import { paymentRoutes } from './intents/routes.js'
import { ledgerRoutes } from './ledger/routes.js'
import { describeCall, tags } from './manual/describe-calls.js'
import { standInsOf } from './manual/manual.js'
import type { OpenApi } from './manual/read-openapi.js'
import { mountDocs } from './manual/routes.js'
import { ExchangeRates } from './market/exchange-rates.js'
import { TokenPrices } from './market/token-prices.js'
import { createOverlays, serveOverlay, serveOverlayPicture } from './overlay/routes.js'
import { privacyRoutes } from './privacy/routes.js'
import { serveCard, servePublicPage, serveQr } from './public-page/page-routes.js'
import { servePicture } from './public-page/picture-routes.js'
import { publicPageRoutes } from './public-page/routes.js'
import { createReceipts } from './receipts/routes.js'
import { reserveRoutes } from './reserves/routes.js'
import { serveEmbed } from './sdk/embed.js'
import { sdkRoutes } from './sdk/routes.js'
import { findNairaSession } from './sdk/sessions/auth.js'
import type { Services } from './services.js'
import { testRoutes } from './test-mode/routes.js'
import { serveTipMailStop, takeTipMailStop, tipMailRoutes } from './tips/mails/routes.js'
import { stopPath } from './tips/mails/send-tip-mails.js'
import { creatorTipRoutes } from './tips/read/creator-routes.js'
import { tipStream } from './tips/read/stream.js'
import { tipRoutes } from './tips/routes.js'
import { takeOutRoutes } from './treasury/take-outs/routes.js'
import { webhookRoutes } from './webhooks/routes.js'
import { receiveWebhook } from './withdrawals/reconcile/receive-webhook.js'
import { payoutRoutes } from './withdrawals/routes.js'

export interface App {
  readonly koa: Koa
  /** What `/openapi.json` answers. */
  readonly openApi: unknown
  /** Closes the open streams and stops reading new tips for them. */
  close(): Promise<void>
}

/** Pages of any origin may call these paths (CORS). The paths here ignore case, as the router does. */
const publicPath = /^\/((sdk|payments|chain|pay|t|\.well-known)\/|reserves$)/i
/** These paths require a session, also for unknown routes below them. */
const sessionPath = { live: /^\/(creators|payouts)(\/|$)/i, test: /^\/(creators|payouts|test)(\/|$)/i }
/** What wallets open by an address alone, without a page that says what it is. */
const walletPath = /^\/(actions([/.]|$)|pay\/)/
/** Answers here change every second. API: no answer may be cached, including errors. */
const fiatPath = /^\/payments\/fiat\//i
const streamPath = /^\/(chain\/tips|creators|overlay\/[\w-]+)\/stream\/?$/i

/** The HTTP application: the routes of every feature, and the OpenAPI document made from the same routes. */
export function createApp(services: Services, pages: Pages = loadPages()): App {
  const { config } = services
  const heartbeats = new HeartbeatWheel()
  const hub = new StreamHub(services, tipStream)
  const prices = new TokenPrices(services)
  const rates = new ExchangeRates(services)
  const streams = createLiveStreams(services, hub, heartbeats)
  const events = createEventReaders(services, heartbeats)
  const overlays = createOverlays(services, heartbeats)
  // One for all: it bounds how many hashes this process computes at a time.
  const passwordsFor = createPasswords()
  const receipts = createReceipts(services, pages)
  const { publicUrl } = config.http
  // Wallets replace the stand-in chain's blockhash, and would pay real money on the real one.
  const hidesWalletPaths = config.mode === 'test' && isSecure(publicUrl)
  const routes = [
    ...accountRoutes(services, passwordsFor),
    ...payoutWalletRoutes(services),
    ...ledgerRoutes(services),
    ...creatorRoutes(services),
    ...publicPageRoutes(services),
    ...paymentRoutes(services, prices),
    ...fiatRoutes(services, rates, (ctx) => findNairaSession(services, ctx)),
    ...refundRoutes(services, rates),
    ...payoutRoutes(services, rates),
    ...tipRoutes(services, streams),
    ...creatorTipRoutes(services),
    ...tipMailRoutes(services),
    ...takeOutRoutes(services),
    ...events.routes,
    ...sdkRoutes(services, prices),
    ...actionRoutes(services, prices),
    ...webhookRoutes(services),
    ...overlays.routes,
    ...privacyRoutes(services, passwordsFor),
    ...reserveRoutes(services),
    ...receipts.routes,
    ...(services.testControls === undefined ? [] : testRoutes(services, services.testControls)),
  ].filter(({ endpoint }) => !(hidesWalletPaths && walletPath.test(endpoint.path)))
  const document = openApiDocument(routes, {
    publicUrl,
    cookieName: cookieName(publicUrl, 'session'),
    mode: config.mode,
    tags,
    describe: (key, limit) => describeCall(key, limit, services.limits),
  })
  const published = withComponents(document)

  // Koa's own `proxy` believes every proxy or none, so it stays off.
  const koa = new Koa()
  koa.use(
    trustProxies(config.http.trustProxy, () =>
      services.log.warn('X-Forwarded-For came, but TRUST_PROXY does not say from which proxies: set it'),
    ),
  )
  koa.use(answerErrors(services.log, services.metrics, services.tracing))
  // Errors here are broken connections. Without this handler Koa prints them as plain text.
  koa.on('error', (error: unknown) =>
    services.log.debug({ err: error }, 'a connection closed before its response ended'),
  )
  koa.use(securityHeaders(isSecure(publicUrl)))
  koa.use((ctx, next) => (fiatPath.test(ctx.path) ? noStore(ctx, next) : next()))
  koa.use(publicCors())
  koa.use(serveWallets)
  const firstSegments = new Set(routes.map(({ endpoint }) => endpoint.path.split('/')[1] ?? ''))
  const shed = refuseWhileOverloaded(services.poolQueue)
  // Pages and health endpoints need no connection. A stream is not refused: after a 503 a browser would not open it again.
  const isShed = ({ path }: Koa.Context): boolean =>
    firstSegments.has(path.split('/')[1] ?? '') && !streamPath.test(path)
  koa.use((ctx, next) => (isShed(ctx) ? shed(ctx, next) : next()))
  const countRead = limitByAddress(services.limits.of('reads'))
  // The guards run before routing, so a caller without a session cannot find out which of these routes exist.
  const needsSession = (ctx: Koa.Context): boolean =>
    sessionPath[config.mode].test(ctx.path) && !(keyPath.test(ctx.path) && readBearer(ctx) !== undefined)
  const guardSession = chain([countRead, ...ownerGuards(services)])
  koa.use((ctx, next) => (needsSession(ctx) ? guardSession(ctx, next) : next()))
  koa.use(mount(routes, services.limits, services.switches))
  // The API's routes need none of these. Below are pages, files and the provider's webhook.
  koa.use(compressDocuments)
  koa.use(markPages(config))
  koa.use(answerMissingPages(firstSegments))
  const router = new Router()
  // `OpenApi` names the parts that our own document always has.
  const openApi = document as unknown as OpenApi
  mountDocs(
    router,
    countRead,
    { document: openApi, text: JSON.stringify(published) },
    {
      base: publicUrl,
      standIns: standInsOf(config.fiatpay.url),
      limits: services.limits,
      mode: config.mode,
    },
    pages,
  )
  router.get('/', countRead, serveStartPage)
  router.get('/@:handle', countRead, servePublicPage(services, rates, pages))
  router.get('/@:handle/picture', countRead, servePicture(services))
  router.get('/@:handle/og.png', countRead, serveCard(services))
  router.get(
    ['/@:handle/qr.svg', '/@:handle/qr.png', '/@:handle/wallet-qr.svg'],
    countRead,
    serveQr(services),
  )
  router.get('/embed/:embedId', countRead, serveEmbed(services, rates, pages))
  router.get(['/dashboard', '/dashboard/:screen'], countRead, serveDashboard(config, pages))
  router.get(['/overlay', '/overlay/:token'], countRead, serveOverlay(services, pages))
  router.get('/overlay/:token/pictures/:hash', countRead, serveOverlayPicture(services))
  router.get(paidPath, countRead, servePaidPage)
  router.get('/t/:token', countRead, receipts.serveStatus)
  router.post(['/t/:token/accept', '/t/:token/give-back'], countRead, receipts.takeDecision)
  router.get('/verify', countRead, receipts.serveVerify)
  router.get(stopPath, countRead, serveTipMailStop)
  router.post(stopPath, countRead, takeTipMailStop(services))
  router.get('/assets/:name', serveAssets(pages))
  router.get('/embed.js', serveEmbedScript(pages))
  router.get([iconPath, faviconPath], serveIcon)
  router.post(
    '/webhooks/fiatpay',
    limitByAddress(services.limits.of('webhooks')),
    serveWebhook((raw, header) => receiveWebhook(services, raw, header)),
  )
  koa.use(router.routes())
  koa.use(router.allowedMethods())
  return {
    koa,
    openApi: published,
    async close() {
      streams.close()
      await events.close()
      await overlays.close()
      heartbeats.close()
      await hub.close()
    },
  }
}

function publicCors(): Middleware {
  const allowAnyOrigin = cors({
    origin: '*',
    allowMethods: 'GET,POST',
    exposeHeaders: ['X-Request-Id', 'Idempotency-Hit', 'Retry-After', ...limitHeaders],
    maxAge: 600,
  })
  return (ctx, next) => (publicPath.test(ctx.path) ? allowAnyOrigin(ctx, next) : next())
}
