import { createServer, type Server } from 'node:http'
import Router from '@koa/router'
import Koa from 'koa'
import type { Log } from '../platform/log.js'
import type { Metrics } from '../platform/metrics.js'

export interface HealthOptions {
  readonly metrics: Metrics
  /** `ok`; `degraded` when Redis is away or hangs (still ready: the rows wait); `unavailable` without PostgreSQL or while stopping. */
  readonly ready: () => Promise<'ok' | 'degraded' | 'unavailable'>
}

/** `/health` while the process lives, `/ready` while it can serve, `/metrics` for Prometheus. */
export function healthRouter({ metrics, ready }: HealthOptions): Router {
  const router = new Router()
  router.get('/health', (ctx) => {
    ctx.body = { status: 'ok' }
  })
  router.get('/ready', async (ctx) => {
    const status = await ready()
    ctx.status = status === 'unavailable' ? 503 : 200
    ctx.body = { status }
  })
  router.get('/metrics', async (ctx) => {
    ctx.type = metrics.registry.contentType
    ctx.body = await metrics.registry.metrics()
  })
  return router
}

/** The same three for a worker process, on a port of their own. */
export function startHealthServer(
  port: number,
  options: HealthOptions & { readonly log: Log },
): Promise<Server> {
  const app = new Koa()
  // Koa would print it as bare text among the JSON of the log.
  app.on('error', (error: unknown) => options.log.warn({ err: error }, 'a probe was not answered'))
  app.use(healthRouter(options).routes())
  const server = createServer(app.callback())
  return new Promise((resolve, reject) => {
    server.once('error', reject).listen(port, () => resolve(server))
  })
}
