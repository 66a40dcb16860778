import type { Composed } from '../../src/compose.js'
import { ExchangeRates } from '../../src/market/exchange-rates.js'
import type { Config } from '../../src/platform/config/config.js'
import { createTransact } from '../../src/platform/database/transact.js'
import { createKeyedMutex } from '../../src/platform/keyed-mutex.js'
import type { Log } from '../../src/platform/log.js'
import type { Metrics } from '../../src/platform/monitoring/metrics.js'
import type { WokenKind } from '../../src/platform/queue/wake-ups.js'
import { BankList } from '../../src/withdrawals/request/banks.js'
import { createWaitForOutcome, type WithdrawTools } from '../../src/withdrawals/request/withdraw.js'

/** A web process, or an operator's command. */
export interface Web {
  readonly services: Composed
  readonly rates: ExchangeRates
  readonly tools: WithdrawTools
}

/** What a process of a run reaches. */
export interface Reached extends Pick<Composed, 'db' | 'payouts' | 'collections' | 'exchangeRates'> {
  readonly config: Config
  readonly metrics: Metrics
  readonly wake: (kind: WokenKind) => void
  /** Its log. */
  readonly say: (text: string) => void
}

/** The services of one process of the product, without a web server and without Redis. */
export function composeWeb({ wake, say, ...reached }: Reached): Web {
  const line = (fields: object, text: string): void => say(`${text} ${JSON.stringify(fields, plain)}`)
  const log = {
    trace: ignore,
    debug: ignore,
    info: line,
    warn: line,
    error: line,
    fatal: line,
  } as unknown as Log
  const services = {
    ...reached,
    log,
    tracing: undefined,
    transact: createTransact(reached.db, { wake, removeJobs: ignore, publish: ignore, log: line }),
    wake,
    notifications: { listen: () => ignore },
    secondExchangeRates: undefined,
  } as unknown as Composed
  const rates = new ExchangeRates(services)
  const tools = {
    rates,
    banks: new BankList(services),
    perUser: createKeyedMutex(),
    waitForOutcome: createWaitForOutcome(services),
  }
  return { services, rates, tools }
}

function ignore(): void {}

function plain(_name: string, value: unknown): unknown {
  if (value instanceof Error) return value.message
  return typeof value === 'bigint' ? String(value) : value
}
