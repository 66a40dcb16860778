import type { ExecutionContext } from 'ava'
import { Queue, Worker } from 'bullmq'
import { queuePrefix, type WorkKind } from '../../../src/platform/queue/wake-ups.js'
import { createWorkerClient } from '../../../src/platform/redis/clients.js'
import type { Batch } from '../../../src/platform/worker/batch-loop.js'
import { startWorker } from '../../../src/platform/worker/worker.js'
import { workers } from '../../../workers/registry.js'
import { until } from '../until.js'
import { as } from './roles.js'
import type { World } from './world.js'

export interface WorkerLoops {
  stop(): Promise<void>
}

/** Starts the named workers for this world. They are woken as in production. */
export function startWorkerLoops(services: World['services'], kinds: readonly WorkKind[]): WorkerLoops {
  const running = kinds.map((kind) =>
    startLoop(services, kind, workers[kind].createBatch(as(kind, services)), () => undefined),
  )
  return {
    async stop() {
      await Promise.all(running.map((worker) => worker.stop()))
    },
  }
}

/** Waits until an act wakes the worker of this kind: no timer is involved. What was woken before it does not count. */
export async function assertWoken(
  t: ExecutionContext,
  { config }: World['services'],
  kind: WorkKind,
  act: () => Promise<unknown>,
): Promise<void> {
  let wakeUps = 0
  const connection = createWorkerClient(config.redis)
  const options = { connection: connection.client, prefix: queuePrefix(config.redis.namespace) }
  const queue = new Queue(kind, { ...options, skipVersionCheck: true })
  t.teardown(() => queue.close())
  await queue.obliterate({ force: true })
  const worker = new Worker(kind, async () => void wakeUps++, { ...options, skipVersionCheck: true })
  worker.on('error', (error) => t.log(error))
  t.teardown(async () => {
    await worker.close(true)
    connection.disconnect()
  })
  await act()
  await until(`the ${kind} is woken`, () => wakeUps > 0)
  t.pass()
}

function startLoop(
  { config }: World['services'],
  kind: WorkKind,
  batch: Batch,
  onError: (error: unknown) => void,
) {
  return startWorker({
    kind,
    batch,
    concurrency: workers[kind].concurrency,
    redis: config.redis,
    onError,
  })
}
