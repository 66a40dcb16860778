import { type Composed, compose, composeMail } from '../src/compose.js'
import { startHealthServer } from '../src/http/health-endpoints.js'
import { providerCheck } from '../src/operators/provider-checks.js'
import { createStateGauges } from '../src/operators/state-gauges.js'
import { loadConfig } from '../src/platform/config/config.js'
import { loadOperators } from '../src/platform/config/own-settings.js'
import { checkSettings, loadOrExit } from '../src/platform/config/start-settings.js'
import { checkOrExit } from '../src/platform/database/check-start.js'
import type { Measure } from '../src/platform/monitoring/measurements.js'
import type { WorkKind } from '../src/platform/queue/wake-ups.js'
import { stopOnSignals } from '../src/platform/shutdown.js'
import { singleFlight } from '../src/platform/single-flight.js'
import { traceBatch } from '../src/platform/tracing/tracing.js'
import { within } from '../src/platform/within.js'
import { startWorker } from '../src/platform/worker/worker.js'
import { openDataKeys } from '../src/privacy/keys/open-data-keys.js'
import { startClock } from './clock.js'
import { type ProcessName, processNames, secretsOfAll, settingsReaders, workers } from './registry.js'

/** `/ready` and `/metrics` show the switches as they are now, unless the database takes longer. */
const switchesMs = 1000

/** `node dist/workers/main.js <name>... | all`: runs the named workers in one process. The Procfile runs one each. */
function namesFrom(args: readonly string[]): ProcessName[] {
  const names = args.includes('all') ? [...processNames] : processNames.filter((name) => args.includes(name))
  const unknown = args.filter((arg) => arg !== 'all' && !processNames.some((name) => name === arg))
  if (names.length === 0 || unknown.length > 0) {
    throw new Error(
      `usage: main.js <name>... | all; the names are ${processNames.join(', ')}; got "${args.join(' ')}"`,
    )
  }
  return names
}

/** Starts a process of this name. Returns how to stop it. */
function start(services: Composed, name: ProcessName): () => Promise<void> {
  return name === 'clock' ? startClock(services) : startNamedWorker(services, name)
}

function startNamedWorker(services: Composed, kind: WorkKind): () => Promise<void> {
  const { config, metrics, log, tracing } = services
  const { createBatch, concurrency, jobFailure, makeRowDue } = workers[kind]
  const worker = startWorker({
    kind,
    batch: traceBatch(tracing, kind, createBatch(services)),
    concurrency,
    redis: config.redis,
    jobFailure: jobFailure && ((row) => jobFailure(services, row)),
    makeRowDue: makeRowDue && ((row) => makeRowDue(services, row)),
    onError: (error) => {
      metrics.batchErrors.inc({ kind })
      log.warn({ err: error, kind }, 'a batch failed; its rows become due again')
    },
  })
  return worker.stop
}

/** Checks of what only these processes can reach. */
function ownChecks(names: readonly ProcessName[]): Measure[] {
  if (!names.includes('mailer')) return []
  const mail = composeMail()
  return [providerCheck('mail', () => mail.check())]
}

/** Compares the settings with the database. */
async function checkStart(services: Composed, name: ProcessName): Promise<void> {
  const check = name === 'clock' ? undefined : workers[name].checkStart
  if (check !== undefined) await checkOrExit(services.log, () => check(services))
}

const names = namesFrom(process.argv.slice(2))
const config = loadOrExit(() => {
  checkSettings(settingsReaders(names), process.env)
  return loadConfig(process.env, secretsOfAll(names))
})
const services = compose(config, names.join('+'))
for (const name of names) await checkStart(services, name)
if (secretsOfAll(names).includes('DATA_KEY'))
  await checkOrExit(services.log, () => openDataKeys(services.db, config.dataKeys))
const operators = names.includes('clock') ? loadOperators() : undefined
const stops = names.map((name) => start(services, name))
if (operators !== undefined) {
  // Only the clock loads the operators' pages: they cost a process 0.2 s of its start.
  const { startOperators } = await import('./operators.js')
  stops.push(await startOperators(services, operators))
}
let stopping = false
const readSwitches = singleFlight(() => services.switches.read().catch(() => undefined))
const ready = async () => {
  if (stopping) return 'unavailable' as const
  const state = await services.ready()
  if (state !== 'unavailable') await within(switchesMs, readSwitches())
  return state
}
const fillStateGauges = createStateGauges(services, ownChecks(names))
const healthServer =
  config.workerPort === undefined
    ? undefined
    : await startHealthServer(config.workerPort, {
        ...services,
        ready,
        async fillGauges() {
          await fillStateGauges()
          await within(switchesMs, readSwitches())
        },
      })
services.log.info(
  { names, connections: services.mostConnections, guards: { mode: config.guards, ...config.guardTable } },
  'working',
)

stopOnSignals(
  async () => {
    stopping = true
    await Promise.all(stops.map((stop) => stop()))
    healthServer?.close()
    healthServer?.closeAllConnections()
    await services.close()
  },
  { log: services.log },
)
