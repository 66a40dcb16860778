import type { ExecutionContext } from 'ava'
import type { WorkKind } from '../../../src/platform/queue/wake-ups.js'
import type { Batch } from '../../../src/platform/worker/batch-loop.js'
import { startWorker } from '../../../src/platform/worker/worker.js'
import { workers } from '../../../workers/registry.js'
import type { World } from './world.js'

export interface WorkerLoops {
  stop(): Promise<void>
}

/** Starts the named workers for this world. They are woken as in production. */
export function startWorkerLoops(services: World['services'], kinds: readonly WorkKind[]): WorkerLoops {
  const running = kinds.map((kind) =>
    startLoop(services, kind, workers[kind].createBatch(services), () => undefined),
  )
  return {
    async stop() {
      await Promise.all(running.map((worker) => worker.stop()))
    },
  }
}

/**
 * Fails unless a worker, woken as in production, does its work within `withinMs` in three rounds in a row. A busy machine may
 * need more rounds. `round` creates work, waits until it is done and returns how many ms that took.
 */
export async function assertWoken(
  t: ExecutionContext,
  services: World['services'],
  { kind, batch, withinMs }: { readonly kind: WorkKind; readonly batch: Batch; readonly withinMs: number },
  round: () => Promise<number>,
): Promise<void> {
  const worker = startLoop(services, kind, batch, (error) => t.log(error))
  t.teardown(() => worker.stop())
  const waits: number[] = []
  const slowest = () => Math.max(...waits.slice(-3))
  for (let rounds = 0; rounds < 12 && (rounds < 3 || slowest() >= withinMs); rounds++)
    waits.push(Math.round(await round()))
  t.log(`after ${waits.join(', ')} ms`)
  t.true(slowest() < withinMs, `after ${waits.join(', ')} ms`)
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
