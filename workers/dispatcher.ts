import { createDispatcherBatch } from '../src/webhooks/dispatch.js'
import { reachOf } from '../src/webhooks/target.js'
import type { WorkerDefinition } from './worker-definition.js'

/** Sends events to creators' webhooks. Woken by each event. */
export const dispatcher: WorkerDefinition = {
  createBatch: (services) => createDispatcherBatch(services, reachOf(services.config)),
  concurrency: 1,
}
