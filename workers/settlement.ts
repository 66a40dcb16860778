import { createSettlementDrain } from '../src/fiat/settlement/settle-due-intents.js'
import type { Drain } from '../src/platform/worker/batch-loop.js'
import type { Services } from '../src/services.js'

/** Asks the fiat provider about open intents and credits what was paid. */
export function settlement(services: Services): Drain {
  return createSettlementDrain(services)
}
