import { ProviderError } from '../../kernel/provider-error.js'
import type { Batch } from '../../platform/worker/batch-loop.js'
import type { Services } from '../../services.js'
import { type FetchedPayments, fetchPayments } from './fetch-payments.js'
import { type DueFiatIntent, finishIntent, takeDueIntents } from './intent-queue.js'
import { reportSettlement, settleIntent } from './settle-intent.js'

type Needs = Pick<Services, 'db' | 'transact' | 'collections' | 'config' | 'metrics' | 'log'>

/**
 * Asks the provider about due intents and settles what it finds: look, call, transact. One intent that fails holds up
 * no other, and an answer that is none means later. Runs anywhere and any number of times.
 */
export function createSettlementBatch(services: Needs): Batch {
  return async () => {
    const due = await takeDueIntents(services.db)
    const pauses = await Promise.all(due.map((intent) => attempt(services, intent)))
    return { taken: due.length, nextDueMs: Math.min(...pauses) }
  }
}

/** Returns the ms until the intent is due again. */
async function attempt(services: Needs, intent: DueFiatIntent): Promise<number> {
  const { db, config, log } = services
  try {
    const seen = await fetchPayments(services.collections, intent)
    return await settleAndFinish(services, intent, seen)
  } catch (error) {
    alarm(services, error)
    log.warn({ err: error, intentId: intent.id }, 'a fiat intent could not be settled; it is looked at again')
    const message = error instanceof ProviderError ? error.message : 'unexpected error'
    const looked = { completed: intent.status === 'confirmed', error: message }
    return finishIntent(db, intent, looked, config.fiat.watchDays)
  }
}

async function settleAndFinish(
  services: Needs,
  intent: DueFiatIntent,
  seen: FetchedPayments,
): Promise<number> {
  const { watchDays } = services.config.fiat
  const { settlement, pauseMs } = await services.transact(async (uow) => {
    const settled = await settleIntent(uow, intent.id, seen)
    return { settlement: settled, pauseMs: await finishIntent(uow.trx, intent, settled, watchDays) }
  })
  reportSettlement(services, intent.id, settlement)
  return pauseMs
}

/** Away, not knowing our key, or making no sense: nothing is decided without the provider, so somebody must look. */
function alarm({ metrics }: Needs, error: unknown): void {
  if (error instanceof ProviderError) metrics.alerts.inc({ kind: 'fiatpay_away' })
}
