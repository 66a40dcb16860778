import type { Batch } from '../src/platform/worker/batch-loop.js'
import type { Services } from '../src/services.js'
import { createVerifierBatch } from '../src/tips/verify/verify-tips.js'

/** Asks the chain about recorded signatures and confirms what it finds. */
export function verifier(services: Services): Batch {
  return createVerifierBatch(services)
}
