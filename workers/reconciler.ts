import { createReconcilerBatch } from '../src/withdrawals/reconcile/reconcile-payouts.js'
import type { WorkerDefinition } from './worker-definition.js'

/** Compares each sent withdrawal with the provider's record and follows it. Woken when one was sent, and by the provider's webhooks. */
export const reconciler: WorkerDefinition = { createBatch: createReconcilerBatch, concurrency: 4 }
