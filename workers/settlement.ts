import { composeRefundReader } from '../src/compose.js'
import { createReturnsBatch } from '../src/fiat/disputes/watch-returns.js'
import { createSettlementBatch } from '../src/fiat/settle-due-intents.js'
import { inTurn } from '../src/platform/worker/batch-loop.js'
import type { WorkerDefinition } from './worker-definition.js'

/**
 * Asks the naira provider about open fiat intents, and about what came back of payments: credits what was paid, debits what
 * is lost. Woken by the provider's webhooks.
 */
export const settlement: WorkerDefinition = {
  createBatch: (services) => {
    const needs = { ...services, refunds: composeRefundReader(services.config) }
    return inTurn([createSettlementBatch(services), createReturnsBatch(needs)])
  },
  concurrency: 4,
}
