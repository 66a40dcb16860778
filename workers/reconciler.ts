import type { Batch } from '../src/platform/worker/batch-loop.js'
import type { Services } from '../src/services.js'
import { createReconcilerBatch } from '../src/withdrawals/reconcile/reconcile-payouts.js'

/** Asks the payout provider what became of withdrawals, and settles them. */
export function reconciler(services: Services): Batch {
  return createReconcilerBatch(services)
}
