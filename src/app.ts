import cors from '@koa/cors'
import Router from '@koa/router'
import Koa, { type Middleware } from 'koa'
import { accountRoutes } from './accounts/routes.js'
import { sessionCookieName } from './http/cookies.js'
import type { Route } from './http/endpoint.js'
import { answerErrors } from './http/errors.js'
import { openApiDocument } from './http/openapi.js'
import { securityHeaders } from './http/security-headers.js'
import { HeartbeatWheel } from './http/sse.js'
import { PriceBook } from './payments/price-book.js'
import { paymentRoutes } from './payments/routes.js'
import type { Services } from './services.js'
import { TipHub } from './tips/hub.js'
import { tipRoutes } from './tips/routes.js'
import { TipStreams } from './tips/stream.js'

export interface App {
  readonly koa: Koa
  /** Ends the open streams and stops looking for new tips. */
  close(): Promise<void>
}

/**
 * Public routes are for any page (no credentials); account routes answer only their own site. In any case of
 * letters, because the router takes any.
 */
const publicPath = /^\/(sdk|payments|chain)\//i
const openApiPath = '/openapi.json'

/** The whole HTTP face: every feature's routes, mounted once, and the document made from the same list. */
export function createApp(services: Services): App {
  const { config } = services
  const wheel = new HeartbeatWheel()
  const hub = new TipHub(services)
  const streams = new TipStreams(services, hub, wheel)
  const routes = [
    ...accountRoutes(services),
    ...paymentRoutes(services, new PriceBook(services)),
    ...tipRoutes(services, streams),
  ]
  const document = JSON.stringify(
    openApiDocument(routes, config.http.publicUrl, sessionCookieName(config.http.publicUrl)),
  )

  const koa = new Koa({ proxy: config.http.trustProxy })
  koa.use(answerErrors(services.log, services.metrics))
  // A connection that breaks while it is answered is the caller's affair; Koa would print it.
  koa.on('error', (error: unknown) => services.log.debug({ err: error }, 'a connection broke'))
  koa.use(securityHeaders(isHttps(config.http.publicUrl)))
  koa.use(publicCors())
  const router = mount(routes)
  router.get(openApiPath, (ctx) => {
    ctx.type = 'application/json'
    ctx.body = document
  })
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

function mount(routes: readonly Route[]): Router {
  const router = new Router()
  for (const { endpoint, middleware } of routes) router[endpoint.method](endpoint.path, ...middleware)
  return router
}

function publicCors(): Middleware {
  const answer = cors({
    origin: '*',
    allowMethods: 'GET,POST',
    exposeHeaders: ['X-Request-Id', 'Retry-After'],
    maxAge: 600,
  })
  return (ctx, next) => (publicPath.test(ctx.path) ? answer(ctx, next) : next())
}

function isHttps(url: string): boolean {
  return new URL(url).protocol === 'https:'
}
