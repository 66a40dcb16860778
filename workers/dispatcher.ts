import type { WorkerDefinition } from './worker-definition.js'
/** placeholder until webhooks land */
export const dispatcher: WorkerDefinition = { createBatch: () => async () => ({ taken: 0 }), concurrency: 1 }
