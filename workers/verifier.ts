import { createVerifierBatch } from '../src/tips/verify-tips.js'
import type { WorkerDefinition } from './worker-definition.js'

/** Verifies and confirms recorded crypto tips against the chain, and makes them final. Woken by each recorded tip. */
export const verifier: WorkerDefinition = { createBatch: createVerifierBatch, concurrency: 1 }
