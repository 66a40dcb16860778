import { ProviderError } from '../../kernel/provider-error.js'
import type { Drain } from '../../platform/worker/batch-loop.js'
import type { Services } from '../../services.js'
import { lookAt, type Observation } from './fetch-payments.js'
import { claimDue, type DueIntent, finishLook } from './intent-queue.js'
import { noteSettlement, settle } from './settle-intent.js'

type Needs = Pick<Services, 'db' | 'transact' | 'fiat' | 'config' | 'metrics' | 'log'>

/**
 * Asks the provider about due intents and settles what it finds: look, call, transact. One intent that fails holds up
 * no other, and an answer that is none means later. Runs anywhere and any number of times.
 */
export function createSettlementDrain(services: Needs): Drain {
  return async () => {
    const due = await claimDue(services.db)
    const pauses = await Promise.all(due.map((intent) => attempt(services, intent)))
    return { taken: due.length, nextDueMs: Math.min(...pauses) }
  }
}

/** Returns the ms until the intent is due again. */
async function attempt(services: Needs, intent: DueIntent): Promise<number> {
  const { db, config, log } = services
  try {
    const seen = await lookAt(services.fiat, intent)
    return await settleAndFinish(services, intent, seen)
  } catch (error) {
    alarm(services, error)
    log.warn({ err: error, intentId: intent.id }, 'a fiat intent could not be settled; it is looked at again')
    const message = error instanceof ProviderError ? error.message : 'unexpected error'
    const looked = { completed: intent.status === 'confirmed', error: message }
    return finishLook(db, intent, looked, config.fiat.watchDays)
  }
}

async function settleAndFinish(services: Needs, intent: DueIntent, seen: Observation): Promise<number> {
  const { watchDays } = services.config.fiat
  const { settlement, pauseMs } = await services.transact(async (uow) => {
    const settled = await settle(uow, intent.id, seen)
    return { settlement: settled, pauseMs: await finishLook(uow.trx, intent, settled, watchDays) }
  })
  noteSettlement(services, intent.id, settlement)
  return pauseMs
}

/** Away, not knowing our key, or making no sense: nothing is decided without the provider, so somebody must look. */
function alarm({ metrics }: Needs, error: unknown): void {
  if (error instanceof ProviderError) metrics.alerts.inc({ kind: 'fiatpay_away' })
}
