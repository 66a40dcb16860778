import type { Knex } from 'knex'
import { changesOne, query, write } from './database.js'

/**
 * The rows of a table that workers take, under a lease (docs/decisions/0001). A row is due when `due_at` has come, and has no
 * more work to do when it is null. Taking a row moves `due_at` to the end of the lease and counts `attempts`, which is the
 * fence: a worker that has been too slow finds another number, and its result is not written.
 */
export interface DueRows {
  /** Begins the names of the statements. */
  readonly name: string
  readonly table: string
  /** The type of the column `id`. */
  readonly id: 'text' | 'uuid' | 'bigint'
  readonly batchSize: number
  /** Longer than the work on a batch takes. The rows of a crashed worker are due again after it. */
  readonly leaseSeconds: number
  /** The columns of a taken row `t`. */
  readonly columns: string
  /** Which rows of the table belong to this work. Absent: all. */
  readonly condition?: string
  /** Further columns that are set when a row is taken. */
  readonly onTake?: string
  readonly onFinish?: Finish
}

/** What else is written when the work on rows is finished: `s` is the schedule, `t` the row. */
interface Finish {
  /** Further columns of the schedule with their types. */
  readonly columns?: Readonly<Record<string, string>>
  readonly set?: string
  /** The next due time instead of the one of the schedule, which `later` is. */
  readonly dueAt?: (later: string) => string
  /** Further statements, for the rows in `locked` that are still ours. */
  readonly also?: string
}

/** When a taken row is due again; null: never. `attempts` is the number it was taken with. */
export interface Schedule {
  readonly id: string | bigint
  readonly attempts: number
  readonly dueInMs: number | null
}

/**
 * Takes the rows that have been due longest. Several workers take different rows. The condition uses `now()`, not
 * `clock_timestamp()`: `now()` is stable, so the index scan stops at rows not yet due.
 */
export function takeDueRows<Row>(db: Knex, rows: DueRows): Promise<Row[]> {
  const { name, table, batchSize, leaseSeconds, columns, condition = 'true', onTake } = rows
  return query<Row>(db, {
    name: `${name}.take`,
    text: /* sql */ `
      with taken as (
        update ${table} set due_at = clock_timestamp() + interval '${leaseSeconds} s', attempts = attempts + 1
          ${onTake === undefined ? '' : `, ${onTake}`}
        where id = any(array(
          select id from ${table} where due_at <= now() and ${condition}
          order by due_at limit ${batchSize} for update skip locked))
        returning *)
      select ${columns} from taken t`,
  })
}

/** How many rows a batch has taken, and whether more may be due. */
export function countTaken(taken: readonly unknown[], { batchSize }: DueRows) {
  return { taken: taken.length, full: taken.length >= batchSize }
}

/**
 * Writes when rows are due again. Skips rows that another worker has taken since, and those whose work has ended meanwhile.
 * Locks them in the order of their ids, so that two workers never wait for each other. The arrays are sub-selects, so that PostgreSQL
 * plans once (src/ledger/post-statement.ts).
 */
export async function finishRows<Finished extends Schedule>(
  db: Knex,
  { name, table, id, onFinish = {} }: DueRows,
  schedules: readonly Finished[],
): Promise<void> {
  if (schedules.length === 0) return
  const { columns = {}, set, dueAt = (later) => later, also } = onFinish
  const further = Object.entries(columns)
  const names = ['id', 'attempts', 'due_in_ms', ...further.map(([column]) => column)]
  const types = [id, 'int', 'float8', ...further.map(([, type]) => type)]
  const valueIn = (schedule: Finished, column: string): unknown =>
    (schedule as Record<string, unknown>)[column] ?? null
  await write(db, {
    name: `${name}.finish`,
    text: /* sql */ `
      with schedule as (
        select * from unnest(${types.map((type, index) => `(select $${index + 1}::${type}[])`).join(', ')}) as s (${names.join(', ')})
      ), locked as materialized (
        select t.id, t.attempts from ${table} t join schedule s on s.id = t.id and s.attempts = t.attempts
        where t.due_at is not null order by t.id for update of t
      )${also === undefined ? '' : `, ${also}`}
      update ${table} t set due_at = ${dueAt(`clock_timestamp() + s.due_in_ms * interval '1 ms'`)}
        ${set === undefined ? '' : `, ${set}`}
      from locked l join schedule s on s.id = l.id and s.attempts = l.attempts where t.id = l.id`,
    values: [
      schedules.map((schedule) => schedule.id),
      schedules.map(({ attempts }) => attempts),
      schedules.map(({ dueInMs }) => dueInMs),
      ...further.map(([column]) => schedules.map((schedule) => valueIn(schedule, column))),
    ],
  })
}

/** Milliseconds until the next row is due; infinity when none is. */
export async function msToNextDueRow(
  db: Knex,
  { name, table, condition = 'true' }: DueRows,
): Promise<number> {
  const [row] = await query<{ ms: number | null }>(db, {
    name: `${name}.next-due`,
    text: /* sql */ `
      select (extract(epoch from min(due_at) - clock_timestamp()) * 1000)::float8 as ms
      from ${table} where due_at is not null and ${condition}`,
  })
  return Math.max(0, row?.ms ?? Number.POSITIVE_INFINITY)
}

/**
 * Makes a row due now, also one that a worker has taken: of two workers on a row only one can finish it. False when there is
 * no such row with work to do.
 */
export function makeDue(
  db: Knex,
  { name, table, condition = 'true' }: Pick<DueRows, 'name' | 'table' | 'condition'>,
  { column, value }: { readonly column: string; readonly value: string },
): Promise<boolean> {
  return changesOne(db, {
    name: `${name}.make-due`,
    text: /* sql */ `
      update ${table} set due_at = clock_timestamp()
      where ${column}::text = $1 and due_at is not null and ${condition} returning 1`,
    values: [value],
  })
}
