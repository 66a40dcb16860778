import type { WorkKind } from '../../src/platform/jobs.js'
import { startWorker } from '../../src/platform/worker.js'
import { workers } from '../../workers/registry.js'
import type { World } from './world.js'

export interface WorkerLoops {
  stop(): Promise<void>
}

/** The named workers at work for this world, woken as in production. */
export function createWorkerLoops(services: World['services'], kinds: readonly WorkKind[]): WorkerLoops {
  const running = kinds.map((kind) =>
    startWorker({
      kind,
      drain: workers[kind](services),
      redisUrl: services.config.redis.url,
      namespace: services.config.redis.namespace,
      onError: () => undefined,
    }),
  )
  return {
    async stop() {
      await Promise.all(running.map((worker) => worker.stop()))
    },
  }
}
