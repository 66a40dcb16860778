import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { switchNames } from '../database/switches/switches.js'
import { alertKinds } from './alert-kinds.js'

export type Metrics = ReturnType<typeof createMetrics>

/** Between two samples of the event loop's lag. At 100 ms they were half of what an idle process does. */
const lagSampleMs = 500

/** The Prometheus metrics of one process. */
export function createMetrics() {
  const registry = new Registry()
  const registers = [registry]
  const prefix = 'tipping_'
  collectDefaultMetrics({ register: registry, prefix, eventLoopMonitoringPrecision: lagSampleMs })
  // Gauges named like counters: sums of the gauges by type beside them.
  for (const what of ['resources', 'handles', 'requests'])
    registry.removeSingleMetric(`${prefix}nodejs_active_${what}_total`)
  const named = <Label extends string>(name: string, help: string, label?: Label) => ({
    name: `${prefix}${name}`,
    help,
    labelNames: label === undefined ? [] : [label],
    registers,
  })
  const counter = <Label extends string = never>(name: string, help: string, label?: Label): Counter<Label> =>
    new Counter(named(name, help, label))
  const gauge = <Label extends string = never>(name: string, help: string, label?: Label): Gauge<Label> =>
    new Gauge(named(name, help, label))
  const stopped = gauge('stopped', 'Whether an operator or an alarm has stopped this: 1, else 0', 'switch')
  const histogram = (name: string, help: string, buckets: number[]): Histogram =>
    new Histogram({ ...named(name, help), buckets })
  const alerts = counter('alerts_total', 'Conditions that need an operator', 'kind')
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
    batchErrors: counter('drain_errors_total', 'Batches that failed; their rows become due again', 'kind'),
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
    rpcCalls: counter('rpc_calls_total', 'Calls to the Solana RPC', 'method'),
    rpcFailures: counter(
      'rpc_failures_total',
      'Requests without a usable answer, by host of the Solana RPC endpoint',
      'endpoint',
    ),
    tipsConfirmed: counter('tips_confirmed_total', 'Tips moved to confirmed'),
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
    reads: counter(
      'reads_total',
      'Reads for the standby of DATABASE_READ_URL, by what it did; all that it has not served went to the primary',
      'standby',
    ),
    openStreams: gauge('open_streams', 'Open tip streams of this process'),
    /** Conditions that need an operator. The runbook explains each kind. */
    alerts,
  }
}
