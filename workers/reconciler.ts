import { createReconcilerDrain } from '../src/payouts/reconcile.js'
import type { Drain } from '../src/platform/drain-loop.js'
import type { Services } from '../src/services.js'

/** Asks the payout provider what became of withdrawals, and settles them. */
export function reconciler(services: Services): Drain {
  return createReconcilerDrain(services)
}
