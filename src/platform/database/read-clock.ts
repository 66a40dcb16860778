import type { Knex } from 'knex'
import { query } from './database.js'

/** The time of the database's clock, which all processes share. What is stored or compared with rows goes by it. */
export async function readClock(db: Knex): Promise<Date> {
  const [row] = await query<{ now: Date }>(db, {
    name: 'clock.read',
    text: 'select clock_timestamp() as now',
  })
  if (row === undefined) throw new Error('the database has no time')
  return row.now
}
