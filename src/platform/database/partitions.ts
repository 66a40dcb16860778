import { setTimeout as pause } from 'node:timers/promises'
import type { Knex } from 'knex'
import { query } from './database.js'

/** A month of a table (docs/decisions/0086). */
export interface Partition {
  /** In the schema `partitions`, such as `events_2026_11`. */
  readonly name: string
  readonly table: string
  /** Such as `2026-11`, in UTC. */
  readonly month: string
  /** The column whose month it is. */
  readonly time: string
  /** Rows are written and read through the table. False: it was detached, and only its owner reads it. */
  readonly attached: boolean
  readonly bytes: bigint
  /** Whole days since the month has ended; negative before. */
  readonly daysSince: number
}

/** Makes the partitions that are missing. Returns how many. */
export async function makePartitions(db: Knex): Promise<number> {
  const [row] = await query<{ made: number }>(db, {
    name: 'partitions.make',
    text: 'select make_partitions() as made',
  })
  return row?.made ?? 0
}

/** All months of all tables, oldest first, without the default partitions. */
export function listPartitions(db: Knex): Promise<Partition[]> {
  return query<Partition>(db, {
    name: 'partitions.list',
    text: /* sql */ `
      select c.relname as name, p.relname as table, to_char(m.month, 'YYYY-MM') as month, a.attname as time,
        c.relispartition as attached, pg_total_relation_size(c.oid) as bytes,
        floor(extract(epoch from now() - (m.month + interval '1 month') at time zone 'UTC') / 86400)::int as "daysSince"
      from pg_partitioned_table t join pg_class p on p.oid = t.partrelid and p.relnamespace = 'public'::regnamespace
        join pg_attribute a on a.attrelid = p.oid and a.attnum = t.partattrs[0]
        join pg_class c on c.relnamespace = 'partitions'::regnamespace and c.relkind = 'r'
          and c.relname ~ ('^' || p.relname || '_[0-9]{4}_[0-9]{2}$')
        cross join lateral (select to_date(right(c.relname, 7), 'YYYY_MM')::timestamp as month) m
      order by 2, 1`,
  })
}

/** For so long others wait at most: behind the lock that it waits for, again and again, and behind the one that it has. */
const lockMs = 200
const heldMs = 1000
const attempts = 100
const lockTimeout = '55P03'
const statementTimeout = '57014'

/**
 * Runs `work`, which takes a short lock on a whole table, in a transaction. What runs longer on the table is waited for, but nobody
 * waits for long behind it: it gives up and tries again. False: the table was never free, or what had to be done took too long.
 */
async function whenFree(db: Knex, work: (trx: Knex.Transaction) => Promise<void>): Promise<boolean> {
  for (let attempt = 1; attempt <= attempts; attempt++)
    try {
      await db.transaction(async (trx) => {
        await trx.raw(`set local lock_timeout = ${lockMs}`)
        await work(trx)
      })
      return true
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined
      if (code === statementTimeout) return false
      if (code !== lockTimeout) throw error
      await pause(Math.random() * 2 * lockMs)
    }
  return false
}

/**
 * Takes a month out of its table and keeps it. `last`: in the same transaction, once nothing writes it any more. Nobody writes the table
 * meanwhile, so that each statement must be short. False: never free.
 */
export function detachPartition(
  db: Knex,
  { name, table }: Partition,
  last: (trx: Knex.Transaction) => Promise<void>,
): Promise<boolean> {
  return whenFree(db, async (trx) => {
    await trx.raw(`set local statement_timeout = ${heldMs}`)
    await trx.raw('alter table ?? detach partition partitions.??', [table, name])
    await last(trx)
  })
}

/**
 * Puts a month back into its table, with what the default partition has of it. Waits for what changes the table, so that its commit is seen
 * afterwards. False: never free.
 */
export async function attachPartition(
  db: Knex,
  partition: Pick<Partition, 'name' | 'table' | 'month' | 'time'>,
  last: (trx: Knex.Transaction) => Promise<void>,
): Promise<boolean> {
  const { name, table, month, time } = partition
  const [year = 0, number = 0] = month.split('-').map(Number)
  const from = new Date(Date.UTC(year, number - 1)).toISOString()
  const to = new Date(Date.UTC(year, number)).toISOString()
  // Checked before, so that nobody waits while the rows are read.
  const inMonth = db.raw('check (?? >= ? and ?? < ?)', [time, from, time, to]).toQuery()
  await db.raw(
    `alter table partitions.?? drop constraint if exists in_month, add constraint in_month ${inMonth}`,
    [name],
  )
  await addMissingColumns(db, partition)
  return whenFree(db, async (trx) => {
    await trx.raw(`set local statement_timeout = ${heldMs}`)
    // Readers wait, too: one that has been planned without the month would not find what moves there. They lock the table first.
    await trx.raw('lock table only ?? in access exclusive mode', [table])
    await trx.raw(
      `with late as (delete from partitions.?? where ?? >= ? and ?? < ? returning *)
       insert into partitions.?? select * from late`,
      [`${table}_default`, time, from, time, to, name],
    )
    await trx.raw(`alter table ?? attach partition partitions.?? for values from ('${from}') to ('${to}')`, [
      table,
      name,
    ])
    await trx.raw('alter table partitions.?? drop constraint in_month', [name])
    await last(trx)
  })
}

/** Columns that migrations have added since a month was detached, if they may be null or have a default. */
async function addMissingColumns(
  db: Knex,
  { name, table }: Pick<Partition, 'name' | 'table'>,
): Promise<void> {
  const missing = await query<{ text: string }>(db, {
    name: 'partitions.missing-columns',
    text: /* sql */ `
      select format('alter table partitions.%I add column %I %s%s%s', $1::text, c.attname, format_type(c.atttypid, c.atttypmod),
        ' default ' || pg_get_expr(d.adbin, d.adrelid), case when c.attnotnull then ' not null' end) as text
      from pg_attribute c left join pg_attrdef d on d.adrelid = c.attrelid and d.adnum = c.attnum
      where c.attrelid = $2::text::regclass and c.attnum > 0 and not c.attisdropped and not exists (
        select from pg_attribute o where o.attrelid = ('partitions.' || $1)::regclass and o.attname = c.attname)
      order by c.attnum`,
    values: [name, table],
  })
  for (const { text } of missing) await db.raw(text)
}
