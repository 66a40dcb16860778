import { ProviderError } from '../kernel/provider-error.js'
import { namedOrigin } from '../kernel/trace-context.js'
import { ExchangeRates } from '../market/exchange-rates.js'
import { countTaken, takeDueRows } from '../platform/database/due-rows.js'
import type { Batch } from '../platform/worker/batch-loop.js'
import type { Services } from '../services.js'
import { releaseCardReserves } from './settlement/card-reserve.js'
import { type FetchedPayments, fetchPayments } from './settlement/fetch-payments.js'
import { type DueFiatIntent, fiatIntentQueue, finishIntent } from './settlement/intent-queue.js'
import { reportSettlement, settleIntent } from './settlement/settle-intent.js'

type Needs = Pick<
  Services,
  'db' | 'transact' | 'collections' | 'exchangeRates' | 'secondExchangeRates' | 'config' | 'metrics' | 'log'
>

/** After so long without a pause, card money becomes available between two batches of intents. */
const longestBusyMs = 60_000

/**
 * Polls the provider about the due intents and settles what it finds: read, call, transact. An intent that fails does not stop the others. Without a usable answer it is polled again later. Any
 * number of workers may run it. Card money whose days are over becomes available when no intent is due, and at the latest after
 * a minute, so that no tip waits for it.
 */
export function createSettlementBatch(services: Needs): Batch {
  const rates = new ExchangeRates(services)
  let releasedAt = performance.now()
  return async () => {
    const due = await takeDueRows<DueFiatIntent>(services.db, fiatIntentQueue)
    const pauses = await Promise.all(due.map((intent) => fetchAndSettle(services, rates, intent)))
    if (due.length > 0 && performance.now() - releasedAt < longestBusyMs)
      return { ...countTaken(due, fiatIntentQueue), nextDueMs: Math.min(...pauses) }
    releasedAt = performance.now()
    const released = await releaseCardReserves(services)
    return { taken: due.length + released, nextDueMs: Math.min(...pauses) }
  }
}

/** Returns the ms until the intent is due again. */
async function fetchAndSettle(services: Needs, rates: ExchangeRates, intent: DueFiatIntent): Promise<number> {
  const { db, config, log } = services
  try {
    const fetched = await fetchPayments(services.collections, intent)
    // Without a usable reading the last accepted rate counts.
    if (fetched.payments.length > 0) await rates.refresh()
    return await settleAndFinish(services, intent, fetched)
  } catch (error) {
    countProviderError(services, error)
    log.warn(
      { err: error, tip: intent.id, ...namedOrigin(intent) },
      'a fiat intent could not be settled; it is tried again later',
    )
    const message = error instanceof ProviderError ? error.message : 'unexpected error'
    const result = { completed: intent.status === 'confirmed', error: message }
    return finishIntent(db, intent, result, config.fiat.watchDays)
  }
}

async function settleAndFinish(
  services: Needs,
  intent: DueFiatIntent,
  fetched: FetchedPayments,
): Promise<number> {
  const { watchDays } = services.config.fiat
  const { settlement, pauseMs } = await services.transact(async (uow) => {
    const result = await settleIntent(uow, services, intent.id, fetched)
    return {
      settlement: result,
      pauseMs: await finishIntent(uow.trx, intent, result, watchDays),
    }
  })
  reportSettlement(services, intent, settlement)
  return pauseMs
}

/** Alarms an operator: without a usable answer of the provider no intent is settled. */
function countProviderError({ metrics }: Needs, error: unknown): void {
  if (error instanceof ProviderError) metrics.alerts.inc({ kind: 'fiatpay_away' })
}
