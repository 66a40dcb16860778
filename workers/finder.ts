import type { Batch } from '../src/platform/worker/batch-loop.js'
import type { Services } from '../src/services.js'
import { createFinderBatch } from '../src/tips/record/find-unreported.js'

/** Looks for payments of issued intents that nobody reported. */
export function finder(services: Services): Batch {
  return createFinderBatch(services)
}
