import type { Server } from 'node:http'
import { type Composed, compose } from '../src/compose.js'
import { startHealthServer } from '../src/http/health-endpoints.js'
import { loadConfig, loadOperators } from '../src/platform/config/config.js'
import { checkSettings, settingsOrEnd } from '../src/platform/config/start-settings.js'
import { type WorkKind, workKinds } from '../src/platform/queue/wake-ups.js'
import { stopOnSignals } from '../src/platform/shutdown.js'
import { startWorker } from '../src/platform/worker/worker.js'
import { startClock } from './clock.js'
import { startOperators } from './operators.js'
import { concurrencyOf, failuresOf, workers } from './registry.js'
import { ownSettings } from './settings.js'

/** `node dist/workers/main.js <name>... | all`: the process kind is an argument, the Procfile is the map. */
const known = [...workKinds, 'clock'] as const
type Name = (typeof known)[number]

function namesFrom(args: readonly string[]): Name[] {
  const names = args.includes('all') ? [...known] : known.filter((name) => args.includes(name))
  const unknown = args.filter((name) => name !== 'all' && !known.some((one) => one === name))
  if (names.length === 0 || unknown.length > 0) {
    throw new Error(
      `usage: main.js <name>... | all, with names of ${known.join(', ')}; got "${args.join(' ')}"`,
    )
  }
  return names
}

function start(services: Composed, name: Name): () => Promise<void> {
  if (name === 'clock') return startClock(services)
  return startDrain(services, name)
}

function startDrain(services: Composed, kind: WorkKind): () => Promise<void> {
  const { config, metrics, log } = services
  const batch = workers[kind](services)
  const worker = startWorker({
    kind,
    batch: async () => {
      const report = await batch()
      metrics.drainedRows.inc({ kind }, report.taken)
      return report
    },
    concurrency: concurrencyOf[kind],
    redisUrl: config.redis.url,
    namespace: config.redis.namespace,
    failureOf: failuresOf[kind]?.(services),
    onError: (error) => {
      metrics.drainErrors.inc({ kind })
      log.warn({ err: error, kind }, 'a batch failed; its rows come due again')
    },
  })
  return worker.stop
}

const names = namesFrom(process.argv.slice(2))
const config = settingsOrEnd(() => {
  checkSettings([loadConfig, ...names.flatMap((name) => ownSettings[name] ?? [])], process.env)
  return loadConfig()
})
const services = compose(config, names.join('+'))
const operators = names.includes('clock') ? loadOperators() : undefined
const stops = names.map((name) => start(services, name))
if (operators !== undefined) stops.push(await startOperators(services, operators))
let stopping = false
const ready = async () => (stopping ? ('unavailable' as const) : services.ready())
const ops: Server | undefined =
  config.workerPort === undefined
    ? undefined
    : await startHealthServer(config.workerPort, { metrics: services.metrics, ready, log: services.log })
services.log.info({ names }, 'working')

stopOnSignals(
  async () => {
    stopping = true
    await Promise.all(stops.map((stop) => stop()))
    ops?.close()
    ops?.closeAllConnections()
    await services.close()
  },
  { log: services.log, endWithStdin: config.stopWithStdin },
)
