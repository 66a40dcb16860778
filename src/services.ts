import type { Knex } from 'knex'
import type { Config } from './platform/config.js'
import type { Queryable } from './platform/db.js'
import type { RowJob, WorkKind } from './platform/jobs.js'
import type { Log } from './platform/log.js'
import type { Metrics } from './platform/metrics.js'
import type { Hints } from './platform/pubsub.js'
import type { RateLimits } from './platform/rate-limits.js'
import type { Transact } from './platform/transact.js'
import type { Chain } from './providers/chain/port.js'
import type { FiatCollection } from './providers/fiat/port.js'
import type { Names } from './providers/names/port.js'
import type { Payouts } from './providers/payouts/port.js'
import type { Prices } from './providers/prices/port.js'
import type { Rates } from './providers/rates/port.js'
import type { SwapEngine } from './providers/swaps/port.js'

/** Everything an operation may be given. Each takes a Pick of it, and so says what it needs. */
export interface Services {
  readonly config: Config
  readonly log: Log
  readonly metrics: Metrics
  readonly db: Knex
  readonly transact: Transact
  /** Two connections that only recording tips uses. */
  readonly recordPool: Queryable
  readonly hints: Hints
  readonly limits: RateLimits
  /** Wakes a worker outside a transaction, best effort. */
  readonly wake: (kind: WorkKind, job?: RowJob) => void
  readonly chain: Chain
  readonly names: Names
  readonly prices: Prices
  readonly fiat: FiatCollection
  /** What the payout provider knows; only payouts/submit.ts is given the means to send. */
  readonly payouts: Payouts
  readonly rates: Rates
  /** In the order in which they are asked. */
  readonly swaps: readonly SwapEngine[]
}
