import { createSettlementBatch } from '../src/fiat/settlement/settle-due-intents.js'
import type { Batch } from '../src/platform/worker/batch-loop.js'
import type { Services } from '../src/services.js'

/** Asks the fiat provider about open intents and credits what was paid. */
export function settlement(services: Services): Batch {
  return createSettlementBatch(services)
}
