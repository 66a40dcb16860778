import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { createApp } from './app.js'
import { compose } from './compose.js'
import { type HealthOptions, healthRouter, startHealthServer } from './http/health-endpoints.js'
import { createHttpServer } from './http/server.js'
import { createStateGauges } from './operators/state-gauges.js'
import { loadConfig } from './platform/config/config.js'
import { secretsOf } from './platform/config/process-secrets.js'
import { loadOrExit } from './platform/config/start-settings.js'
import { checkOrExit } from './platform/database/check-start.js'
import { stopOnSignals } from './platform/shutdown.js'
import { openDataKeys } from './privacy/keys/open-data-keys.js'

/** When the process stops, open requests get this long to finish. */
const lastRequestsMs = 10_000
/** A turn of the event loop that had nothing to do is shorter; so long is one looked for. */
const idleTurnMs = 0.1
const mostAcceptMs = 2_000
/** A database that answers compares the keys in this time. */
const compareMs = 3_000

/** A web process. It keeps no state, so any number of them can run. */
const config = loadOrExit(() => loadConfig(process.env, secretsOf.web))
const services = compose(config, 'web')
const app = createApp(services)
const drainMs = config.http.drainSeconds * 1000
let stopping = false
let keysKnown = false

const ready: HealthOptions['ready'] = async () => (stopping || !keysKnown ? 'unavailable' : services.ready())
app.koa.use(healthRouter({ ready, switches: services.switches }).routes())
const { metricsPort } = config
const metricsServer =
  metricsPort === undefined
    ? undefined
    : await startHealthServer(metricsPort, { ...services, ready, fillGauges: createStateGauges(services) })
const server = createHttpServer(app.koa.callback())
server.on('request', (_request, response) => {
  // A kept-alive connection could send one more request.
  if (stopping) response.shouldKeepAlive = false
})
// Without a database it listens all the same, and seals nothing before its keys are compared.
config.dataKeys.hold()
const comparing = checkOrExit(
  services.log,
  async () => {
    await openDataKeys(services.db, config.dataKeys)
    keysKnown = true
  },
  () => !stopping,
)
await Promise.race([comparing, sleep(compareMs, undefined, { ref: false })])
await services.switches.start()
server.listen(config.http.port, () => {
  const address = server.address()
  // With PORT=0 the system chooses the port, and only this line shows it.
  const port = typeof address === 'object' ? address?.port : config.http.port
  services.log.info(
    { port, connections: services.mostConnections, guards: { mode: config.guards, ...config.guardTable } },
    'listening',
  )
})
server.on('error', (error) => {
  services.log.fatal({ err: error }, 'cannot listen')
  process.exitCode = 1
  void services.close()
})

/**
 * Closing resets connections that the kernel has taken and that are not accepted yet. Each turn of the event loop accepts them, and
 * then does all else that is due: so the server closes after a turn that had nothing else to do.
 */
async function untilAccepted(): Promise<void> {
  const end = performance.now() + mostAcceptMs
  for (let turnMs = mostAcceptMs; turnMs > idleTurnMs && performance.now() < end; ) {
    await setImmediate()
    const began = performance.now()
    await setImmediate()
    turnMs = performance.now() - began
  }
}

stopOnSignals(
  async () => {
    stopping = true
    // The router learns from /ready, and from the end of each connection with its next answer, that no further request is to come
    // here. Until then it gets its answers.
    if (drainMs > 0) await sleep(drainMs)
    await untilAccepted()
    const closed = new Promise((done) => server.close(done))
    await app.close()
    server.closeIdleConnections()
    setTimeout(() => server.closeAllConnections(), lastRequestsMs).unref()
    await closed
    metricsServer?.close()
    metricsServer?.closeAllConnections()
    await services.close()
  },
  { log: services.log, extraMs: drainMs },
)
