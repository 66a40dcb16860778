import { createApp } from './app.js'
import { compose } from './compose.js'
import { healthRouter } from './http/health-endpoints.js'
import { createHttpServer } from './http/server.js'
import { loadConfig } from './platform/config/config.js'
import { settingsOrEnd } from './platform/config/start-settings.js'
import { stopOnSignals } from './platform/shutdown.js'

/** A client that neither finishes its request nor reads its answer is given this long when the process stops. */
const lastRequestsMs = 8000

/** A web process: stateless, any number of them. */
const config = settingsOrEnd(() => loadConfig())
const services = compose(config, 'web')
const app = createApp(services)
let stopping = false

const ops = healthRouter({
  metrics: services.metrics,
  ready: async () => (stopping ? 'unavailable' : services.ready()),
})
app.koa.use(ops.routes())
const server = createHttpServer(app.koa.callback())
server.on('request', (_request, response) => {
  // A connection that is kept alive would bring one more request after the last one.
  if (stopping) response.shouldKeepAlive = false
})
server.listen(config.http.port, () => {
  const address = server.address()
  // With PORT=0 the system chooses, and only this line says which.
  const port = typeof address === 'object' ? address?.port : config.http.port
  services.log.info({ port }, 'listening')
})
server.on('error', (error) => {
  services.log.fatal({ err: error }, 'cannot listen')
  process.exitCode = 1
  void services.close()
})

stopOnSignals(
  async () => {
    stopping = true
    const closed = new Promise((done) => server.close(done))
    await app.close()
    server.closeIdleConnections()
    setTimeout(() => server.closeAllConnections(), lastRequestsMs).unref()
    await closed
    await services.close()
  },
  { log: services.log, endWithStdin: config.stopWithStdin },
)
