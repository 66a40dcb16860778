import { type JobsOptions, Queue } from 'bullmq'
import { namedOrigin, type Origin } from '../../kernel/trace-context.js'
import type { RedisClient } from '../redis/clients.js'

/** The kinds of work that wait in rows. Each is also the name of a worker and, if it is woken, of a BullMQ queue. */
export const workKinds = [
  'verifier',
  'finder',
  'settlement',
  'payouts',
  'reconciler',
  'provisioner',
  'custodian',
  'take-outs',
  'mailer',
  'dispatcher',
] as const
export type WorkKind = (typeof workKinds)[number]
/** Its rows are due later than they are written, so nothing wakes the finder. */
export type WokenKind = Exclude<WorkKind, 'finder'>

export function isWoken(kind: WorkKind): kind is WokenKind {
  return kind !== 'finder'
}

/** Prefix of the BullMQ keys of one installation. The braces keep the keys on one node of a Redis cluster. */
export function queuePrefix(namespace: string): string {
  return `{${namespace}}`
}

/** The queue of a kind. Connection errors are ignored here; the client's `status` shows them (redis/clients.ts). */
function openQueue(kind: WokenKind, connection: RedisClient, namespace: string): Queue {
  const queue = new Queue(kind, { connection, prefix: queuePrefix(namespace), skipVersionCheck: true })
  queue.on('error', () => undefined)
  return queue
}

/**
 * A process sends at most one wake-up per kind in this time. The verifier's is longer, since one batch takes hundreds of tips, and the
 * mailer's, since a quarter of a second does not matter for an e-mail.
 */
const windowMs = (kind: WokenKind): number => (kind === 'verifier' || kind === 'mailer' ? 250 : 50)

/** A job for one row, so that operators see it among the failed jobs. It only names the row, which says what to do. */
export interface RowJob {
  /** Unique per row and attempt. */
  readonly id: string
  /** The row's reference. */
  readonly row: string
  /** Of the row. */
  readonly origin: Origin
}

/** Failed jobs of rows are kept for 30 days (`age` is in seconds). */
const keepFailed = { age: 30 * 24 * 3600 }

export interface Waker {
  wake(kind: WokenKind, job?: RowJob): void
  /** Removes jobs of rows, best effort. A job that a worker has taken stays. */
  removeJobs(kind: WokenKind, ids: readonly string[]): void
  close(): Promise<void>
}

/**
 * Sends wake-up jobs without payload, best effort (docs/decisions/0001). The first call of a window is sent
 * immediately; when others follow, one more is sent at the window's end. Windows are kept in the process, not in
 * Redis: there, a jobId would drop a wake-up that arrives while the job runs. While Redis is unavailable nothing is
 * sent and nothing waits. A job for a row is a wake-up too, and is sent once per id.
 */
export function createWaker(redis: RedisClient, namespace: string): Waker {
  const queues = new Map<WokenKind, Queue>()
  const windows = new Map<WokenKind, { again: boolean; timer: NodeJS.Timeout }>()

  function addJob(kind: WokenKind, name: string, data: object, options: JobsOptions): void {
    if (redis.status !== 'ready') return
    queueOf(kind)
      .add(name, data, { removeOnComplete: true, ...options })
      .catch(() => undefined)
  }
  function queueOf(kind: WokenKind): Queue {
    const queue = queues.get(kind) ?? openQueue(kind, redis, namespace)
    queues.set(kind, queue)
    return queue
  }
  function wake(kind: WokenKind, job?: RowJob): void {
    if (job !== undefined) {
      const data = { row: job.row, ...namedOrigin(job.origin) }
      addJob(kind, 'row', data, { jobId: job.id, attempts: 1, removeOnFail: keepFailed })
      return
    }
    const current = windows.get(kind)
    if (current !== undefined) {
      current.again = true
      return
    }
    const timer = setTimeout(() => {
      const ended = windows.get(kind)
      windows.delete(kind)
      if (ended?.again === true) wake(kind)
    }, windowMs(kind))
    windows.set(kind, { again: false, timer })
    addJob(kind, 'wake', {}, { removeOnFail: true })
  }
  return {
    wake,
    removeJobs(kind, ids) {
      if (redis.status !== 'ready') return
      for (const id of ids)
        queueOf(kind)
          .remove(id)
          .catch(() => undefined)
    },
    async close() {
      for (const { timer } of windows.values()) clearTimeout(timer)
      windows.clear()
      await Promise.all([...queues.values()].map((queue) => queue.close()))
    },
  }
}
