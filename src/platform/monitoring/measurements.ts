import type { Knex } from 'knex'
import { changesOne, query, write } from '../database/database.js'

/** Something that one process measures for all. It has a row of `measurements` with its name. */
export interface Measure {
  readonly name: string
  /** A value is measured again when it is older, by whichever process notices. */
  everySeconds(value: unknown): number
  /** A failure leaves the last value, which then grows old. */
  measure(): Promise<object>
  /** The reader waits for it. Only for what takes milliseconds. */
  readonly awaited?: boolean
}

interface Measurement {
  /** Null: it was never measured. */
  readonly ageSeconds: number | null
  readonly value: unknown
}

export type Measurements = ReadonlyMap<string, Measurement>

/** A process that dies while it measures keeps the others from it so long. */
const leaseSeconds = 30
/** A process that may not or cannot measure leaves it to the others for this time. */
const pauseMs = 60_000

/**
 * Returns a function that reads the measurements of all processes, and measures what is old and this process can. However many
 * processes are read however often, each value is measured once per its time.
 */
export function createMeasurements(db: Knex, measures: readonly Measure[]): () => Promise<Measurements> {
  const notBefore = new Map<Measure, number>()
  const running = new Set<Measure>()

  async function measureOnce(
    { name, measure }: Measure,
    olderThan: number,
  ): Promise<Measurement | undefined> {
    if (!(await lease(db, name, olderThan))) return undefined
    try {
      const value = await measure()
      await storeMeasurement(db, name, value)
      return { ageSeconds: 0, value }
    } catch (error) {
      await giveBack(db, name)
      throw error
    }
  }
  async function refresh(one: Measure, olderThan: number): Promise<Measurement | undefined> {
    running.add(one)
    try {
      return await measureOnce(one, olderThan)
    } catch {
      notBefore.set(one, performance.now() + pauseMs)
      return undefined
    } finally {
      running.delete(one)
    }
  }
  return async () => {
    const found = new Map(await readAll(db))
    for (const one of measures) {
      const { ageSeconds = null, value } = found.get(one.name) ?? {}
      const olderThan = one.everySeconds(value)
      const isFresh = ageSeconds !== null && ageSeconds < olderThan
      if (isFresh || running.has(one) || performance.now() < (notBefore.get(one) ?? 0)) continue
      const measuring = refresh(one, olderThan)
      if (one.awaited !== true) continue
      const measured = await measuring
      if (measured !== undefined) found.set(one.name, measured)
    }
    return found
  }
}

async function readAll(db: Knex): Promise<(readonly [string, Measurement])[]> {
  const rows = await query<Measurement & { readonly name: string }>(db, {
    name: 'measurements.read',
    text: /* sql */ `
      select name, value, extract(epoch from clock_timestamp() - measured_at)::float8 as "ageSeconds" from measurements`,
  })
  return rows.map(({ name, ...measurement }) => [name, measurement] as const)
}

function lease(db: Knex, name: string, olderThan: number): Promise<boolean> {
  return changesOne(db, {
    name: 'measurements.lease',
    text: /* sql */ `
      update measurements set leased_until = clock_timestamp() + interval '${leaseSeconds} s'
      where name = $1 and leased_until < clock_timestamp()
        and (measured_at is null or measured_at <= clock_timestamp() - $2::float8 * interval '1 second') returning name`,
    values: [name, olderThan],
  })
}

async function storeMeasurement(db: Knex, name: string, value: object): Promise<void> {
  await write(db, {
    name: 'measurements.store',
    text: `update measurements set measured_at = clock_timestamp(), value = $2, leased_until = 'epoch' where name = $1`,
    values: [name, JSON.stringify(value)],
  })
}

async function giveBack(db: Knex, name: string): Promise<void> {
  await write(db, {
    name: 'measurements.give-back',
    text: `update measurements set leased_until = 'epoch' where name = $1`,
    values: [name],
  })
}

/** The clock lives. */
export async function beat(db: Knex): Promise<void> {
  const text = `update heartbeats set beat_at = clock_timestamp() where name = 'clock'`
  await write(db, { name: 'heartbeats.beat', text })
}
