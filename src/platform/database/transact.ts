import { setTimeout as pause } from 'node:timers/promises'
import type { Knex } from 'knex'
import type { RowJob, WorkKind } from '../queue/wake-ups.js'

/** What one transaction may do: SQL through `trx`, and say what should be woken or told once it is committed. */
export interface UnitOfWork {
  readonly trx: Knex.Transaction
  /** Wakes the worker of this kind after commit; `job` stands for one row besides, where operators are to see each. */
  wake(kind: WorkKind, job?: RowJob): void
  /** Publishes a hint on this channel after commit. */
  publish(channel: string, hint?: string): void
}

/** The only door to a transaction of several statements. */
export type Transact = <T>(work: (uow: UnitOfWork) => Promise<T>) => Promise<T>

export interface Announcer {
  wake(kind: WorkKind, job?: RowJob): void
  publish(channel: string, hint: string): void
}

const deadlock = '40P01'
const serializationFailure = '40001'
const attempts = 4

/**
 * Opens the door. The closure is run again, whole, when PostgreSQL breaks a deadlock by ending it; hints are
 * sent after commit, best effort and never awaited: the rows say what is due, a hint only says it sooner.
 */
export function createTransact(db: Knex, announcer: Announcer): Transact {
  return async (work) => {
    for (let attempt = 1; ; attempt++) {
      const hints: (() => void)[] = []
      try {
        const result = await db.transaction((trx) =>
          work({
            trx,
            wake: (kind, job) => hints.push(() => announcer.wake(kind, job)),
            publish: (channel, hint = '') => hints.push(() => announcer.publish(channel, hint)),
          }),
        )
        for (const send of hints) send()
        return result
      } catch (error) {
        if (attempt === attempts || !isConflict(error)) throw error
        await pause(Math.random() * 20 * attempt)
      }
    }
  }
}

function isConflict(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === deadlock || code === serializationFailure
}
