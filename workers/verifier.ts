import type { Drain } from '../src/platform/worker/batch-loop.js'
import type { Services } from '../src/services.js'
import { createVerifierDrain } from '../src/tips/verify/verify-tips.js'

/** Asks the chain about recorded signatures and confirms what it finds. */
export function verifier(services: Services): Drain {
  return createVerifierDrain(services)
}
