import { inTurn } from '../src/platform/worker/batch-loop.js'
import { createFinderBatch } from '../src/tips/record/find-unreported.js'
import { createWatchBatch } from '../src/tips/watch/watch-wallets.js'
import type { WorkerDefinition } from './worker-definition.js'

/**
 * Finds what no client reported: payments of payment intents, and money sent plainly to custody wallets. Nobody wakes it: an intent is
 * searched for after 30 seconds, and wallets are looked at again and again.
 */
export const finder: WorkerDefinition = {
  createBatch: (services) => inTurn([createFinderBatch(services), createWatchBatch(services)]),
  concurrency: 1,
}
