import type { Knex } from 'knex'
import { query } from '../database/database.js'
import type { Log } from '../log.js'
import type { Metrics } from './metrics.js'

/** The clock beats every ten seconds. */
const missingSeconds = 60
const lookMs = 15_000

/** The clock lives. */
export async function beat(db: Knex): Promise<void> {
  await query(db, {
    name: 'heartbeats.beat',
    text: `update heartbeats set beat_at = clock_timestamp(), reported_at = null where name = 'clock'`,
    values: [],
  })
}

interface Needs {
  readonly db: Knex
  readonly metrics: Pick<Metrics, 'alerts'>
  readonly log: Log
}

/** Alarms when no clock has lived for a minute. Of all processes one does, once a minute. */
export async function reportMissingClock({ db, metrics, log }: Needs): Promise<void> {
  const [missing] = await query<{ seconds: number }>(db, {
    name: 'heartbeats.report',
    text: /* sql */ `
      update heartbeats set reported_at = clock_timestamp()
      where name = 'clock' and beat_at < clock_timestamp() - interval '${missingSeconds} s'
        and (reported_at is null or reported_at < clock_timestamp() - interval '${missingSeconds} s')
      returning extract(epoch from clock_timestamp() - beat_at)::float8 as seconds`,
    values: [],
  })
  if (missing === undefined) return
  metrics.alerts.inc({ kind: 'clock_missing' })
  log.error(
    { seconds: Math.round(missing.seconds) },
    'no clock is running: nobody compares, expires or checks',
  )
}

/** Watches the clock from this process, once it has run long enough for a clock that was started with it. Returns how to stop. */
export function watchClock(services: Needs): () => Promise<void> {
  let looking: Promise<void> | undefined
  let timer = setTimeout(look, missingSeconds * 1000)
  let stopped = false
  async function look(): Promise<void> {
    // Without the database there are louder alarms than this.
    looking = reportMissingClock(services).catch(() => undefined)
    await looking
    if (!stopped) timer = setTimeout(look, lookMs)
  }
  return async () => {
    stopped = true
    clearTimeout(timer)
    await looking
  }
}
