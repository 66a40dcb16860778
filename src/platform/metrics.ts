import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { switchNames } from './database/switches.js'

export interface Metrics {
  readonly registry: Registry
  readonly requestSeconds: Histogram<'method' | 'route' | 'status'>
  readonly takenRows: Counter<'kind'>
  readonly batchErrors: Counter<'kind'>
  readonly oldestDueSeconds: Gauge<'kind'>
  readonly stopped: Gauge<'switch'>
  readonly rpcCalls: Counter<'method'>
  readonly rpcFailures: Counter<'endpoint'>
  readonly tipsConfirmed: Counter
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
  const stopped = new Gauge({
    name: `${prefix}stopped`,
    help: 'Whether an operator or an alarm has stopped this: 1, else 0. maintenance: 1 while it is on',
    labelNames: ['switch'],
    registers,
  })
  for (const name of switchNames) stopped.set({ switch: name }, 0)
  return {
    registry,
    stopped,
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
    oldestDueSeconds: new Gauge({
      name: `${prefix}oldest_due_seconds`,
      help: 'How long the oldest due row has waited',
      labelNames: ['kind'],
      registers,
    }),
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
    openStreams: new Gauge({
      name: `${prefix}open_streams`,
      help: 'Open tip streams of this process',
      registers,
    }),
    alerts: new Counter({
      name: `${prefix}alerts_total`,
      help: 'Conditions that need an operator',
      labelNames: ['kind'],
      registers,
    }),
  }
}
