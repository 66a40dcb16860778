import { setTimeout as sleep } from 'node:timers/promises'
import type { Knex } from 'knex'
import type { Log } from '../log.js'
import { within } from '../within.js'
import { isDatabaseUnavailable } from './connections/unavailable.js'
import { createDb, query } from './database.js'

/**
 * Runs a read that may leave the primary (docs/decisions/0085): on the standby of DATABASE_READ_URL or, if that cannot show all that
 * anybody has been shown, on the primary. It may run twice. Nothing that decides about money is read so.
 */
export type Reads = <Result>(read: (db: Knex) => Promise<Result>) => Promise<Result>

/** Reads for which only the primary will do. */
export const readsOf =
  (primary: Knex): Reads =>
  (read) =>
    read(primary)

/** Why a standby cannot be used though it answers. */
const unusable = {
  behind: 'it has not replayed everything',
  not_standby: 'it is no standby of the primary as that is now',
} as const
/** Why a read went to the primary. */
type Reason = keyof typeof unusable | 'slow' | 'failed'

/** How far a standby must be. */
interface Position {
  readonly lsn: string
  /** Where the primary's rows are; null while no clock has seen them. */
  readonly history: string | null
}

/** After this time a read is repeated on the primary. */
const attemptMs = 500
/** So long a read waits for the standby to replay what was committed before it. It is a few ms where all is well. */
const replayMs = 100
const replayPauseMs = 3
/** Between two looks at a standby that has failed or is behind, and as long a look may take: it finds the pool without connections. */
const restMs = 5000

class Unusable extends Error {
  readonly reason: keyof typeof unusable
  constructor(reason: keyof typeof unusable) {
    super(unusable[reason])
    this.reason = reason
  }
}

/** A clock writes it on the primary, and after a promotion anew (docs/decisions/0072). */
const history = `(select system_identifier || '/' || timeline from database_epoch)`

/**
 * What anybody has seen of the primary was flushed before. Throws while the rows are not known to be where they were: then nobody can
 * say which standby is theirs.
 */
export async function askPosition(primary: Knex): Promise<Position> {
  const [position] = await query<Position>(primary, {
    name: 'reads.position',
    text: `select pg_current_wal_flush_lsn()::text as lsn, ${history} as history where database_state() = 'known'`,
  })
  if (position === undefined) throw new Unusable('not_standby')
  return position
}

/** Waits until a standby of these rows has replayed up to the position. Throws `Unusable` if it is none, or too far behind. */
export async function untilReplayed(standby: Knex, { lsn, history: expected }: Position): Promise<void> {
  for (const deadline = performance.now() + replayMs; ; await sleep(replayPauseMs)) {
    const [found] = await query<{ follows: boolean; replayed: boolean; history: string | null }>(standby, {
      name: 'reads.replayed',
      text: `select pg_is_in_recovery() as follows, coalesce(pg_last_wal_replay_lsn() >= $1::pg_lsn, false) as replayed, ${history} as history`,
      values: [lsn],
    })
    if (found?.follows !== true) throw new Unusable('not_standby')
    if (found.replayed) {
      if (found.history !== expected) throw new Unusable('not_standby')
      return
    }
    if (performance.now() > deadline) throw new Unusable('behind')
  }
}

/** Callers share the next run, never one that has begun. */
function shareNext<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let running: Promise<unknown> = Promise.resolve()
  let next: Promise<Result> | undefined
  return () => {
    next ??= running.then(start, start)
    return next
  }
  function start(): Promise<Result> {
    next = undefined
    const started = work()
    running = started
    return started
  }
}

interface ReadPoolOptions {
  readonly primary: Knex
  /** Where the position is asked: reads go on when every connection of the primary's pool is in use. */
  readonly probe: Knex
  readonly standby: { readonly url: string; readonly prepared: boolean }
  /** The most connections to the standby. */
  readonly pool: number
  readonly onRead: (by: 'served' | Reason) => void
  readonly log: Pick<Log, 'info' | 'warn'>
}

/**
 * The check and the read share a transaction, and so a server: behind one address there may be several standbys. While the standby is
 * left alone, one look after each rest says whether it can be used again, and no read waits for that.
 */
export function createReadPool({ primary, probe, standby, pool, onRead, log }: ReadPoolOptions) {
  const db = createDb(standby.url, pool, 2 * attemptMs, standby.prepared)
  const position = shareNext(() => askPosition(probe))
  let away: Reason | undefined
  let restUntil = 0
  let looking: Promise<void> | undefined

  async function attempt<Result>(
    read: (db: Knex) => Promise<Result>,
    ms = attemptMs,
  ): Promise<{ result: Result } | Reason> {
    let isAsked = false
    let isChecked = false
    // The question and BEGIN go out together, and nobody waits for COMMIT.
    const answer = new Promise<{ result: Result }>((resolve, reject) => {
      const asked = position().finally(() => {
        isAsked = true
      })
      asked.catch(reject)
      const work = async (trx: Knex): Promise<void> => {
        await untilReplayed(trx, await asked)
        isChecked = true
        resolve({ result: await read(trx) })
      }
      db.transaction(work, { readOnly: true }).catch(reject)
    })
    try {
      const done = await within(ms, answer)
      if (done !== undefined) return done
      // A primary that answers late, and a read that takes long for its own reasons, say nothing about the standby.
      if (isChecked || !isAsked) return 'slow'
      leaveAlone('failed', 0)
      return 'failed'
    } catch (error) {
      const reason = error instanceof Unusable ? error.reason : 'failed'
      if (reason !== 'failed' || isDatabaseUnavailable(error) || isConflict(error))
        leaveAlone(reason, restMs, error)
      return reason
    }
  }

  function leaveAlone(reason: Reason, forMs: number, err?: unknown): void {
    if (away !== reason)
      log.warn({ reason, ...(reason === 'failed' && { err }) }, 'reads go to the primary, not to the standby')
    away = reason
    restUntil = performance.now() + forMs
  }

  async function look(): Promise<void> {
    const done = await attempt(async () => undefined, restMs)
    if (typeof done === 'string') {
      restUntil = performance.now() + restMs
      return
    }
    away = undefined
    log.info('reads go to the standby again')
  }

  const reads: Reads = async (read) => {
    if (away === undefined) {
      const done = await attempt(read)
      if (typeof done === 'object') {
        onRead('served')
        return done.result
      }
      onRead(done)
    } else {
      if (performance.now() >= restUntil)
        looking ??= look().finally(() => {
          looking = undefined
        })
      onRead(away)
    }
    return read(primary)
  }

  return {
    reads,
    async close(): Promise<void> {
      await looking
      await db.destroy()
    },
  }
}

/** A read that stood in the way of what the standby replays is ended with a code of this class. */
function isConflict(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' && code.startsWith('40')
}
