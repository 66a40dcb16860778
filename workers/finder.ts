import { createFinderBatch } from '../src/tips/record/find-unreported.js'
import type { WorkerDefinition } from './worker-definition.js'

/** Finds payments of payment intents that no client reported. Nobody wakes it: an intent is searched for after 30 seconds. */
export const finder: WorkerDefinition = { createBatch: createFinderBatch, concurrency: 1 }
