import { type JobsOptions, Queue } from 'bullmq'
import type { RedisClient } from '../redis/clients.js'

/** Every kind of work that waits in rows, and with it the name of its BullMQ queue. */
export const workKinds = [
  'verifier',
  'finder',
  'settlement',
  'payouts',
  'reconciler',
  'provisioner',
  'mailer',
] as const
export type WorkKind = (typeof workKinds)[number]

/** BullMQ keys of one installation; the braces keep them on one node of a cluster. */
export function queuePrefix(namespace: string): string {
  return `{${namespace}}`
}

/** The queue of a kind. Errors of its connection are states, not events (redis.ts). */
export function openQueue(kind: WorkKind, connection: RedisClient, namespace: string): Queue {
  const queue = new Queue(kind, { connection, prefix: queuePrefix(namespace), skipVersionCheck: true })
  queue.on('error', () => undefined)
  return queue
}

/** One wake-up per kind and window from one process. Verification is asked for most and looks at 256 tips at once. */
const windowMs: Record<WorkKind, number> = {
  verifier: 250,
  finder: 250,
  settlement: 50,
  payouts: 50,
  reconciler: 50,
  provisioner: 50,
  mailer: 50,
}

/** A job that stands for one row, so that operators see it among the failed ones. What to do is in the row alone. */
export interface RowJob {
  /** Unique for row and attempt. */
  readonly id: string
  /** What the row is known by. */
  readonly row: string
}

/** Failed jobs of rows are kept for 30 days (`age`: seconds). */
const failedKept = { age: 30 * 24 * 3600 }

export interface Waker {
  wake(kind: WorkKind, job?: RowJob): void
  close(): Promise<void>
}

/**
 * Sends wake-up jobs without payload, best effort: the first call of a window at once, and one more at its end
 * when others followed. The window lives in the process, never in Redis: a jobId there would swallow the wake-up
 * that arrives while the job runs. Nothing is sent, and nothing waits, while Redis is away. A job for a row is sent
 * besides, once for its id.
 */
export function createWaker(redis: RedisClient, namespace: string): Waker {
  const queues = new Map<WorkKind, Queue>()
  const windows = new Map<WorkKind, { again: boolean; timer: NodeJS.Timeout }>()

  function send(kind: WorkKind, name: string, data: object, options: JobsOptions): void {
    if (redis.status !== 'ready') return
    const queue = queues.get(kind) ?? openQueue(kind, redis, namespace)
    queues.set(kind, queue)
    queue.add(name, data, { removeOnComplete: true, ...options }).catch(() => undefined)
  }
  function wake(kind: WorkKind, job?: RowJob): void {
    if (job !== undefined)
      send(kind, 'row', { row: job.row }, { jobId: job.id, attempts: 1, removeOnFail: failedKept })
    const current = windows.get(kind)
    if (current !== undefined) {
      current.again = true
      return
    }
    const timer = setTimeout(() => {
      const ended = windows.get(kind)
      windows.delete(kind)
      if (ended?.again === true) wake(kind)
    }, windowMs[kind])
    windows.set(kind, { again: false, timer })
    send(kind, 'wake', {}, { removeOnFail: true })
  }
  return {
    wake,
    async close() {
      for (const { timer } of windows.values()) clearTimeout(timer)
      windows.clear()
      await Promise.all([...queues.values()].map((queue) => queue.close()))
    },
  }
}
