import { createFollowBatch } from '../src/outgoing/follow.js'
import { withdrawalKind } from '../src/withdrawals/withdrawal-kind.js'
import type { WorkerDefinition } from './worker-definition.js'

/** Compares each sent withdrawal with the provider's record and follows it. Woken when one was sent, and by the provider's webhooks. */
export const reconciler: WorkerDefinition = {
  createBatch: (services) => createFollowBatch(services, withdrawalKind(services)),
  concurrency: 4,
}
