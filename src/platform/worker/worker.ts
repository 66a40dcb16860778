import { type Job, Worker } from 'bullmq'
import { isWoken, queuePrefix, type WorkKind } from '../queue/wake-ups.js'
import { createWorkerClient, type RedisServer } from '../redis/clients.js'
import { within } from '../within.js'
import { type Batch, createBatchLoop, createConcurrentLoops } from './batch-loop.js'

export interface WorkerOptions {
  readonly kind: WorkKind
  readonly batch: Batch
  /** Batches that run at the same time. */
  readonly concurrency: number
  readonly redis: RedisServer & { readonly namespace: string }
  readonly onError: (error: unknown) => void
  /** Why the work on a row has not succeeded; undefined if it has. With a reason, the row's job counts as failed. */
  readonly jobFailure?: ((row: string) => Promise<string | undefined>) | undefined
  /** Makes a row due whose job somebody retries. Without it such a job would find nothing to do, and fail again. */
  readonly makeRowDue?: ((row: string) => Promise<void>) | undefined
}

type RowJobOf = Job<{ row?: string }>

/** BullMQ jobs handled at the same time. A row's job waits for the running batches and must not block wake-ups. */
const jobConcurrency = 16
/** Closing waits this long for Redis, so that a frozen Redis does not delay a deploy. */
const closeMs = 2000

/**
 * A worker: the batch loop, woken by BullMQ jobs if anything wakes this kind. It keeps working without Redis, on the loop's timer. A job carries no
 * data, so a lost, doubled or stalled job only changes when the next batch runs.
 */
export function startWorker({
  kind,
  batch,
  concurrency,
  redis,
  onError,
  jobFailure,
  makeRowDue,
}: WorkerOptions): {
  stop(): Promise<void>
} {
  async function work({ data, attemptsStarted }: RowJobOf): Promise<void> {
    if (data.row !== undefined && attemptsStarted > 1) await makeRowDue?.(data.row)
    await loop.wake()
    if (data.row === undefined) return
    // Another loop may be working on the row.
    await loop.running
    const failure = await jobFailure?.(data.row)
    if (failure !== undefined) throw new Error(failure)
  }
  /** The row may get its outcome while its job fails; then nobody else removes the job. */
  async function removeIfSettled(job: RowJobOf | undefined): Promise<void> {
    if (job?.data.row === undefined || jobFailure === undefined) return
    if ((await jobFailure(job.data.row)) === undefined) await job.remove()
  }
  const loop = createConcurrentLoops(concurrency, (longestMs) => createBatchLoop(batch, onError, longestMs))
  void loop.wake()
  if (!isWoken(kind)) return { stop: () => loop.stop() }
  const connection = createWorkerClient(redis)
  const worker = new Worker(kind, work, {
    connection: connection.client,
    prefix: queuePrefix(redis.namespace),
    concurrency: jobConcurrency,
    lockDuration: 60_000,
    maxStalledCount: 50,
    skipVersionCheck: true,
  })
  worker.on('error', () => undefined)
  worker.on('failed', (job: RowJobOf | undefined) => void removeIfSettled(job).catch(() => undefined))
  return {
    async stop() {
      const stopped = loop.stop()
      // Forced (`true`): BullMQ would wait without limit for a connection that broke just before. A job in work stays
      // marked as active and causes one unneeded wake-up later.
      await within(closeMs, worker.close(true))
      await stopped
      await batch.stop?.()
      connection.disconnect()
    },
  }
}
