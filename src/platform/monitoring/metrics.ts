import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { switchNames } from '../database/switches/switches.js'
import { alertKinds } from './alert-kinds.js'

export interface Metrics {
  readonly registry: Registry
  readonly requestSeconds: Histogram<'method' | 'route' | 'status'>
  readonly takenRows: Counter<'kind'>
  readonly batchErrors: Counter<'kind'>
  readonly oldestDueSeconds: Gauge<'kind'>
  readonly oldestUnfinishedSeconds: Gauge<'kind'>
  readonly lateRows: Gauge<'kind'>
  readonly openCases: Gauge<'case'>
  readonly oldestCaseSeconds: Gauge<'case'>
  readonly available: Gauge<'provider'>
  readonly clockSeconds: Gauge
  readonly stateAgeSeconds: Gauge
  readonly heldUsdc: Gauge
  readonly floatNgn: Gauge
  readonly floatUnexplainedNgn: Gauge
  readonly floatAgeSeconds: Gauge
  readonly surplusNgn: Gauge
  readonly shortWallets: Gauge
  readonly reportAgeSeconds: Gauge
  readonly stopped: Gauge<'switch'>
  readonly restored: Gauge
  readonly rpcCalls: Counter<'method'>
  readonly rpcFailures: Counter<'endpoint'>
  readonly tipsConfirmed: Counter
  readonly tipVisibleSeconds: Histogram
  readonly nairaCreditSeconds: Histogram
  readonly withdrawalSendSeconds: Histogram
  readonly openStreams: Gauge
  /** Conditions that need an operator. The runbook explains each kind. */
  readonly alerts: Counter<'kind'>
}

/** The Prometheus metrics of one process. */
export function createMetrics(): Metrics {
  const registry = new Registry()
  const registers = [registry]
  const prefix = 'tipping_'
  collectDefaultMetrics({ register: registry, prefix })
  // Gauges named like counters: sums of the gauges by type beside them.
  for (const what of ['resources', 'handles', 'requests'])
    registry.removeSingleMetric(`${prefix}nodejs_active_${what}_total`)
  const gauge = <Label extends string = never>(name: string, help: string, label?: Label): Gauge<Label> =>
    new Gauge({ name: `${prefix}${name}`, help, labelNames: label === undefined ? [] : [label], registers })
  const stopped = gauge('stopped', 'Whether an operator or an alarm has stopped this: 1, else 0', 'switch')
  const histogram = (name: string, help: string, buckets: number[]): Histogram =>
    new Histogram({ name: `${prefix}${name}`, help, buckets, registers })
  const alerts = new Counter({
    name: `${prefix}alerts_total`,
    help: 'Conditions that need an operator',
    labelNames: ['kind'],
    registers,
  })
  for (const kind of alertKinds) alerts.labels(kind).inc(0)
  for (const name of switchNames) stopped.set({ switch: name }, 0)
  return {
    registry,
    stopped,
    restored: gauge(
      'restored',
      'Whether the database was restored, and nothing is sent until the providers were compared: 1, else 0',
    ),
    requestSeconds: new Histogram({
      name: `${prefix}http_request_seconds`,
      help: 'Time to answer a request',
      labelNames: ['method', 'route', 'status'],
      buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
      registers,
    }),
    takenRows: new Counter({
      name: `${prefix}drained_rows_total`,
      help: 'Due rows that workers took',
      labelNames: ['kind'],
      registers,
    }),
    batchErrors: new Counter({
      name: `${prefix}drain_errors_total`,
      help: 'Batches that failed; their rows become due again',
      labelNames: ['kind'],
      registers,
    }),
    oldestDueSeconds: gauge('oldest_due_seconds', 'How long the oldest due row has waited', 'kind'),
    oldestUnfinishedSeconds: gauge(
      'oldest_unfinished_seconds',
      'How long the oldest work that has not ended has been there',
      'kind',
    ),
    lateRows: gauge('late_rows', 'Work that has been there for more than a minute', 'kind'),
    openCases: gauge('open_cases', 'Cases that wait for a person', 'case'),
    oldestCaseSeconds: gauge('oldest_case_seconds', 'How long the oldest open case has waited', 'case'),
    available: gauge('available', 'Whether a provider gave a usable answer last: 1, else 0', 'provider'),
    clockSeconds: gauge('clock_heartbeat_seconds', 'How long ago a clock has lived'),
    stateAgeSeconds: gauge('state_age_seconds', 'How old the measurement of the gauges of the state is'),
    heldUsdc: gauge('held_usdc', 'USDC held for withdrawals that the provider has not accepted'),
    floatNgn: gauge('float_ngn', 'Our balance at the fiat provider, as read last'),
    floatUnexplainedNgn: gauge('float_unexplained_ngn', 'What that balance has beyond the books'),
    floatAgeSeconds: gauge('float_reading_age_seconds', 'How old that reading is; 0 before the first'),
    surplusNgn: gauge('reserve_surplus_ngn', 'What we have beyond what we owe, by the last reserve report'),
    shortWallets: gauge('reserve_short_wallets', 'Custody wallets that lack USDC, by that report'),
    reportAgeSeconds: gauge('reserve_report_age_seconds', 'How old that report is; 0 before the first'),
    rpcCalls: new Counter({
      name: `${prefix}rpc_calls_total`,
      help: 'Calls to the Solana RPC',
      labelNames: ['method'],
      registers,
    }),
    rpcFailures: new Counter({
      name: `${prefix}rpc_failures_total`,
      help: 'Requests without a usable answer, by host of the Solana RPC endpoint',
      labelNames: ['endpoint'],
      registers,
    }),
    tipsConfirmed: new Counter({
      name: `${prefix}tips_confirmed_total`,
      help: 'Tips moved to confirmed',
      registers,
    }),
    tipVisibleSeconds: histogram(
      'tip_visible_seconds',
      'From the block of a crypto tip, or its record if that came ten minutes later, to its event',
      [1, 2, 3, 5, 10, 20, 60, 300],
    ),
    nairaCreditSeconds: histogram(
      'naira_credit_seconds',
      'From the payment of a naira tip, as the provider says, to its credit',
      [5, 10, 20, 30, 60, 120, 300, 1800],
    ),
    withdrawalSendSeconds: histogram(
      'withdrawal_send_seconds',
      'From the request of a withdrawal, or the end of what held it, to its acceptance by the provider',
      [1, 2, 5, 10, 30, 60, 300, 1800],
    ),
    openStreams: new Gauge({
      name: `${prefix}open_streams`,
      help: 'Open tip streams of this process',
      registers,
    }),
    alerts,
  }
}
