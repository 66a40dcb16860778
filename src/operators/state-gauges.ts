import { cachedFor } from '../platform/cached-for.js'
import { createMeasurements, type Measure, type Measurements } from '../platform/monitoring/measurements.js'
import type { Metrics } from '../platform/monitoring/metrics.js'
import type { Readiness } from '../platform/readiness.js'
import { within } from '../platform/within.js'
import type { Services } from '../services.js'
import { measureState, type State, unfinishedKinds } from './measure-state.js'
import { caseIds } from './open-cases.js'
import { isAvailable, providerChecks, providers } from './provider-checks.js'

/** Requests for the metrics within this time share one read. */
const cacheMs = 5000
/** The rows are measured again when the measurement is older. */
const stateSeconds = 10
/** The answer to a scrape does not wait longer: it then shows the last values and their age. */
const waitMs = 3000

type Needs = Pick<
  Services,
  'db' | 'config' | 'chain' | 'prices' | 'exchangeRates' | 'payouts' | 'metrics'
> & {
  ready(): Promise<Readiness>
}

/**
 * Returns what fills the gauges of the service's state before they are read. Any process can: of all of them one measures
 * (docs/decisions/0071). `further`: checks of providers that only this process knows.
 */
export function createStateGauges(services: Needs, further: readonly Measure[] = []): () => Promise<void> {
  const { db, metrics } = services
  const state: Measure = {
    name: 'state',
    everySeconds: () => stateSeconds,
    measure: () => measureState(db),
    awaited: true,
  }
  const read = createMeasurements(db, [state, ...providerChecks(services), ...further])
  let stateAge = 0
  let ageAt = performance.now()
  setToZero(metrics)
  const refresh = cachedFor(cacheMs, async () => {
    const [ready, found] = await Promise.all([services.ready(), read().catch(() => undefined)])
    metrics.available.set({ provider: 'postgresql' }, ready === 'unavailable' || found === undefined ? 0 : 1)
    if (ready !== 'unavailable') metrics.available.set({ provider: 'redis' }, ready === 'ok' ? 1 : 0)
    const age = found?.get('state')?.ageSeconds ?? undefined
    if (found === undefined || age === undefined) return
    stateAge = age
    ageAt = performance.now()
    show(metrics, found)
  })
  return async () => {
    await within(
      waitMs,
      refresh().catch(() => undefined),
    )
    metrics.stateAgeSeconds.set(stateAge + (performance.now() - ageAt) / 1000)
  }
}

/** Every kind is there from the start, also those that have never had a row. */
function setToZero(metrics: Metrics): void {
  for (const kind of unfinishedKinds) {
    metrics.oldestUnfinishedSeconds.set({ kind }, 0)
    metrics.lateRows.set({ kind }, 0)
  }
  for (const id of caseIds) {
    metrics.openCases.set({ case: id }, 0)
    metrics.oldestCaseSeconds.set({ case: id }, 0)
  }
  for (const provider of ['postgresql', 'redis', ...providers]) metrics.available.set({ provider }, 1)
}

function show(metrics: Metrics, found: Measurements): void {
  for (const provider of providers)
    metrics.available.set({ provider }, isAvailable(found.get(provider)?.value) ? 1 : 0)
  const state = found.get('state')?.value as State
  for (const [kind, seconds] of Object.entries(state.due)) metrics.oldestDueSeconds.set({ kind }, seconds)
  for (const { kind, seconds, late } of state.unfinished) {
    metrics.oldestUnfinishedSeconds.set({ kind }, seconds ?? 0)
    metrics.lateRows.set({ kind }, late)
  }
  for (const { id, count, seconds } of state.cases) {
    metrics.openCases.set({ case: id }, count)
    metrics.oldestCaseSeconds.set({ case: id }, seconds)
  }
  metrics.clockSeconds.set(state.clockSeconds)
  metrics.heldUsdc.set(state.heldUsdc)
  metrics.floatNgn.set(state.floatNgn ?? 0)
  metrics.floatUnexplainedNgn.set(state.floatUnexplainedNgn)
  metrics.floatAgeSeconds.set(state.floatAgeSeconds ?? 0)
  metrics.surplusNgn.set(state.surplusNgn ?? 0)
  metrics.shortWallets.set(state.shortWallets)
  metrics.reportAgeSeconds.set(state.reportAgeSeconds ?? 0)
}
