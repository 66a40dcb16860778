import { setTimeout as pause } from 'node:timers/promises'
import type { Knex } from 'knex'
import type { RowJob, WokenKind } from '../queue/wake-ups.js'

/** Writes a line of the log at level `info`, such as a transition with its row's name. */
export type LogLine = (fields: Readonly<Record<string, unknown>>, text: string) => void

/** One transaction: its SQL goes through `trx`. Wake-ups, notifications and log lines are sent after the commit. */
export interface UnitOfWork {
  readonly trx: Knex.Transaction
  /** Wakes the workers of this kind after the commit. `job`: by a job for one row, which operators can see. */
  wake(kind: WokenKind, job?: RowJob): void
  /** Removes these jobs after the commit, except those that are being worked on. */
  removeJobs(kind: WokenKind, ids: readonly string[]): void
  /** Publishes a notification on this channel after the commit. */
  publish(channel: string, message?: string): void
  /** Logs after the commit: what is rolled back has not happened. */
  readonly log: LogLine
  /** Runs this step at the end of the transaction, once, with the items of all calls. */
  atEnd<Item>(step: LastStep<Item>, item: Item): void
}

/** What a transaction does last, so that the locks it takes are held for the shortest time. */
export type LastStep<Item> = (uow: UnitOfWork, items: readonly Item[]) => Promise<void>

/** Runs a transaction of several statements. Nothing else opens one. */
export type Transact = <T>(work: (uow: UnitOfWork) => Promise<T>) => Promise<T>

export interface AfterCommit {
  wake(kind: WokenKind, job?: RowJob): void
  removeJobs(kind: WokenKind, ids: readonly string[]): void
  publish(channel: string, message: string): void
  /** `startedMs`: when the transaction began, in epoch ms. */
  log(fields: Readonly<Record<string, unknown>>, text: string, startedMs: number): void
}

const deadlock = '40P01'
const serializationFailure = '40001'
const attempts = 4

/**
 * The whole closure runs again when PostgreSQL ends it to resolve a deadlock. Wake-ups and notifications are best
 * effort and never awaited: the rows say what is due, a lost wake-up only delays the work (docs/decisions/0001).
 */
export function createTransact(db: Knex, afterCommit: AfterCommit): Transact {
  return (work) =>
    retryConflicts(async () => {
      const startedMs = Date.now()
      const sends: (() => void)[] = []
      const result = await db.transaction(async (trx) => {
        const last = new Map<LastStep<never>, unknown[]>()
        const uow: UnitOfWork = {
          trx,
          wake: (kind, job) => sends.push(() => afterCommit.wake(kind, job)),
          removeJobs: (kind, ids) => sends.push(() => afterCommit.removeJobs(kind, ids)),
          publish: (channel, message = '') => sends.push(() => afterCommit.publish(channel, message)),
          log: (fields, text) => sends.push(() => afterCommit.log(fields, text, startedMs)),
          atEnd(step, item) {
            const items = last.get(step) ?? []
            items.push(item)
            last.set(step, items)
          },
        }
        const done = await work(uow)
        for (const [step, items] of last) await step(uow, items as never[])
        return done
      })
      for (const send of sends) send()
      return result
    })
}

/** Runs `work`, which is repeatable, again when PostgreSQL ends it to resolve a conflict with others. */
export async function retryConflicts<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++)
    try {
      return await work()
    } catch (error) {
      if (attempt === attempts || !isConflict(error)) throw error
      await pause(Math.random() * 20 * attempt)
    }
}

function isConflict(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === deadlock || code === serializationFailure
}
