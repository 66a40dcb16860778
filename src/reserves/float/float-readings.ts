import type { Knex } from 'knex'
import { query, write } from '../../platform/database/database.js'
import type { FloatMove } from './float-rule.js'

/** The provider's balance as we read it once, against our books. Kobo. */
export interface FloatReading extends FloatMove {
  readonly id: bigint
  readonly readAt: Date
  readonly balance: bigint
  /** What `float_ngn` has with what this reading moved there. */
  readonly book: bigint
  /** At most so much has the provider taken that is not booked yet. */
  readonly underWay: bigint
}

const columns = /* sql */ `
  id, read_at as "readAt", balance, book, settled, arrived, under_way as "underWay", unexplained`

export async function findLastReading(db: Knex): Promise<FloatReading | undefined> {
  const [row] = await query<FloatReading>(db, {
    name: 'float.last',
    text: `select ${columns} from float_readings order by id desc limit 1`,
    values: [],
  })
  return row
}

export async function insertReading(
  trx: Knex.Transaction,
  { balance, book, settled, arrived, underWay, unexplained }: Omit<FloatReading, 'id' | 'readAt'>,
): Promise<FloatReading> {
  const [row] = await query<FloatReading>(trx, {
    name: 'float.insert',
    text: /* sql */ `
      insert into float_readings (balance, book, settled, arrived, under_way, unexplained)
      values ($1, $2, $3, $4, $5, $6) returning ${columns}`,
    values: [balance, book, settled, arrived, underWay, unexplained],
  })
  return row as FloatReading
}

/** So long a difference may last without an alarm: the provider settles and returns money in its own time. */
const differenceMinutes = 60

/** Whether every reading of the last hour, and the one before it, differed from the books in the same direction. */
export async function differsForLong(db: Knex): Promise<boolean> {
  const [row] = await query<{ differs: boolean | null }>(db, {
    name: 'float.differs',
    text: /* sql */ `
      select bool_and(unexplained > 0) or bool_and(unexplained < 0) as differs from float_readings
      where id >= (
        select id from float_readings where read_at <= clock_timestamp() - interval '${differenceMinutes} minutes'
        order by read_at desc limit 1)`,
    values: [],
  })
  return row?.differs ?? false
}

const keptDays = 90

/** The last reading stays. */
export async function deleteOldReadings(db: Knex): Promise<void> {
  await write(db, {
    name: 'float.delete-old',
    text: /* sql */ `
      delete from float_readings where read_at < clock_timestamp() - interval '${keptDays} days'
        and id < (select max(id) from float_readings)`,
    values: [],
  })
}
