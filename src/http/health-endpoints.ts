import { createServer, type Server } from 'node:http'
import Router from '@koa/router'
import Koa from 'koa'
import type { Switches } from '../platform/database/switches/switch-watch.js'
import { switchNames, switchWord } from '../platform/database/switches/switches.js'
import type { Log } from '../platform/log.js'
import type { Metrics } from '../platform/monitoring/metrics.js'
import type { Readiness } from '../platform/readiness.js'

export interface HealthOptions {
  /**
   * `degraded`: Redis is unavailable or hangs. The process is still ready, because work rows wait in PostgreSQL.
   * `unavailable`: PostgreSQL is unavailable, or the process is shutting down.
   */
  readonly ready: () => Promise<Readiness>
  /** What operators have switched off and on, and whether a restored database waits, for `/ready`. */
  readonly switches: Switches
}

/** The health endpoints for everybody: `/health` (the process runs) and `/ready` (it can serve). */
export function healthRouter({ ready, switches }: HealthOptions): Router {
  const router = new Router()
  router.get('/health', (ctx) => {
    ctx.body = { status: 'ok' }
  })
  router.get('/ready', async (ctx) => {
    const status = await ready()
    ctx.status = status === 'unavailable' ? 503 : 200
    const words = switchNames.map((name) => [name, switchWord(name, switches.isStopped(name))])
    ctx.body = { status, switches: Object.fromEntries(words), restored: switches.isRestored() }
  })
  return router
}

/** Serves the health endpoints of a process and `/metrics` (for Prometheus) on a port that the public does not reach. */
export function startHealthServer(
  port: number,
  options: HealthOptions & {
    readonly metrics: Metrics
    readonly log: Log
    readonly fillGauges: () => Promise<void>
  },
): Promise<Server> {
  const { registry } = options.metrics
  const app = new Koa()
  // Without this handler Koa prints the error as plain text, not as JSON.
  app.on('error', (error: unknown) => options.log.warn({ err: error }, 'a probe was not answered'))
  const router = healthRouter(options).get('/metrics', async (ctx) => {
    await options.fillGauges()
    ctx.type = registry.contentType
    ctx.body = await registry.metrics()
  })
  app.use(router.routes())
  const server = createServer(app.callback())
  return new Promise((resolve, reject) => {
    server.once('error', reject).listen(port, () => resolve(server))
  })
}
