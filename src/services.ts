import type { Knex } from 'knex'
import type { Config } from './platform/config/config.js'
import type { PoolQueue } from './platform/database/connections/pool-watch.js'
import type { Queryable } from './platform/database/database.js'
import type { Reads } from './platform/database/read-pool.js'
import type { Switches } from './platform/database/switches/switch-watch.js'
import type { Transact } from './platform/database/transact.js'
import type { Log } from './platform/log.js'
import type { Metrics } from './platform/monitoring/metrics.js'
import type { RowJob, WokenKind } from './platform/queue/wake-ups.js'
import type { RateLimits } from './platform/rate-limits/rate-limits.js'
import type { Notifications } from './platform/redis/notifications.js'
import type { Tracing } from './platform/tracing/tracing.js'
import type { Chain } from './ports/chain.js'
import type { Collections } from './ports/collections.js'
import type { CustodyChain } from './ports/custody-chain.js'
import type { Disputes } from './ports/disputes.js'
import type { ExchangeRateFeed } from './ports/exchange-rates.js'
import type { Names } from './ports/names.js'
import type { Payouts } from './ports/payouts.js'
import type { PriceFeed } from './ports/prices.js'
import type { SwapEngine } from './ports/swaps.js'
import type { TestControls } from './ports/test-controls.js'

/** Everything an operation may need. An operation takes a Pick of it, which shows what it uses. */
export interface Services {
  readonly config: Config
  readonly log: Log
  readonly metrics: Metrics
  /** Undefined unless `OTEL_EXPORTER_OTLP_ENDPOINT` is set. */
  readonly tracing: Tracing | undefined
  readonly db: Knex
  readonly transact: Transact
  /** Reads that may leave the primary, whose pool `db` is. */
  readonly reads: Reads
  /** Two connections used only for recording tips. */
  readonly recordPool: Queryable
  /** Of those who wait for a connection of `db`. */
  readonly poolQueue: PoolQueue
  readonly notifications: Notifications
  readonly limits: RateLimits
  readonly switches: Switches
  /** Wakes a worker outside a transaction, best effort. */
  readonly wake: (kind: WokenKind, job?: RowJob) => void
  readonly chain: Chain
  /** What moving tokens out of custody needs of the chain. It signs and submits nothing. */
  readonly custodyChain: CustodyChain
  readonly names: Names
  readonly prices: PriceFeed
  readonly collections: Collections
  /** Reads disputes about collected naira. Cannot answer one. */
  readonly disputes: Pick<Disputes, 'list' | 'find'>
  /** Queries to the payout provider. None of them sends (ports/payout-sender.ts). */
  readonly payouts: Payouts
  readonly exchangeRates: ExchangeRateFeed
  /** Must agree with the first feed. Undefined: there is none. */
  readonly secondExchangeRates: ExchangeRateFeed | undefined
  /** In order of preference. */
  readonly swaps: readonly SwapEngine[]
  /** Undefined in live mode. */
  readonly testControls: TestControls | undefined
}
