import { type Job, Worker } from 'bullmq'
import { queuePrefix, type WorkKind } from '../queue/wake-ups.js'
import { createWorkerClient } from '../redis/clients.js'
import { type Batch, createBatchLoop, createConcurrentLoops } from './batch-loop.js'

export interface WorkerOptions {
  readonly kind: WorkKind
  readonly batch: Batch
  /** Drains at once. */
  readonly concurrency: number
  readonly redisUrl: string
  readonly namespace: string
  readonly onError: (error: unknown) => void
  /** Why the work on a row has not succeeded, if so: the job that stands for the row then counts as failed. */
  readonly failureOf?: ((row: string) => Promise<string | undefined>) | undefined
}

/** Jobs in work at once: one of a row waits for all that is under way, and must not keep others from being heard. */
const jobConcurrency = 16
/** How long closing waits for Redis before it lets go: a frozen Redis must not hold up a deploy. */
const closeMs = 2000

/**
 * A worker: the batch loop, poked by BullMQ wake-ups. Works on without Redis, on the loop's own rhythm. A job
 * carries nothing, so a lost, doubled or stalled one changes nothing but the moment of the next look.
 */
export function startWorker({
  kind,
  batch,
  concurrency,
  redisUrl,
  namespace,
  onError,
  failureOf,
}: WorkerOptions): {
  stop(): Promise<void>
} {
  async function work({ data }: Job<{ row?: string }>): Promise<void> {
    await loop.wake()
    if (data.row === undefined) return
    // Another lane may be at the row.
    await loop.running
    const failure = await failureOf?.(data.row)
    if (failure !== undefined) throw new Error(failure)
  }
  const loop = createConcurrentLoops(concurrency, () => createBatchLoop(batch, onError))
  const connection = createWorkerClient(redisUrl)
  const worker = new Worker(kind, work, {
    connection: connection.client,
    prefix: queuePrefix(namespace),
    concurrency: jobConcurrency,
    lockDuration: 60_000,
    maxStalledCount: 50,
    skipVersionCheck: true,
  })
  worker.on('error', () => undefined)
  void loop.wake()
  return {
    async stop() {
      const stopped = loop.stop()
      // By force: BullMQ would wait for ever for the end of a connection that broke just before. A job in work stays
      // marked as such, and is one wake-up too many later.
      await Promise.race([worker.close(true), after(closeMs)])
      await stopped
      connection.disconnect()
    },
  }
}

function after(ms: number): Promise<void> {
  return new Promise((done) => {
    setTimeout(done, ms).unref()
  })
}
