import type { Knex } from 'knex'
import { SealBroken } from '../../kernel/aead.js'
import { createSealer, type DataKeys } from '../../kernel/personal-data.js'
import { query } from '../../platform/database/database.js'
import type { SealedColumn } from '../../platform/database/sealed-column.js'

/** Each statement reads or writes the column that a feature describes. */
const nameOf = ({ table, column }: SealedColumn): string => `${table}.${column}`

interface SealedRow {
  readonly id: string
  readonly sealed: Buffer
  readonly context: string
}

/** What one batch did. `last`: the highest id that it read; undefined when there was nothing left to read. */
export interface Resealed {
  readonly last: string | undefined
  readonly rows: number
  /** Rows that do not open. They stay as they are. */
  readonly broken: readonly string[]
}

/**
 * Seals the next rows after this id with the key that seals. A row that somebody else has changed meanwhile is left alone, so any
 * number of runs may work side by side, and each may be killed.
 */
export async function resealBatch(
  db: Knex,
  dataKeys: DataKeys,
  column: SealedColumn,
  after: string | undefined,
): Promise<Resealed> {
  const rows = await readOlder(db, dataKeys.sealing, column, after)
  const sealer = createSealer(dataKeys, column.purpose)
  const broken: string[] = []
  const resealed = rows.flatMap((row) => {
    try {
      return [{ ...row, again: sealer.seal(sealer.open(row.sealed, row.context), row.context) }]
    } catch (error) {
      if (!(error instanceof SealBroken)) throw error
      broken.push(`${nameOf(column)} of ${row.id}`)
      return []
    }
  })
  const stored = resealed.length === 0 ? 0 : await storeSealed(db, column, resealed)
  return { last: rows.at(-1)?.id, rows: stored, broken }
}

function readOlder(
  db: Knex,
  sealing: number,
  one: SealedColumn,
  after: string | undefined,
): Promise<SealedRow[]> {
  const { table, column, id, idType, context, batchSize } = one
  return query(db, {
    name: `data-keys.older ${nameOf(one)}`,
    text: /* sql */ `
      select ${id}::text as id, ${column} as sealed, ${context} as context from ${table}
       where ${column} is not null and get_byte(${column}, 0) <> $1 and ($2::${idType} is null or ${id} > $2)
       order by ${table}.${id} limit $3`,
    values: [sealing, after ?? null, batchSize],
  })
}

/** Locks in the order of ids, so that two runs never wait for each other. Returns how many were changed. */
async function storeSealed(
  db: Knex,
  one: SealedColumn,
  rows: readonly (SealedRow & { readonly again: Buffer })[],
): Promise<number> {
  const { table, column, id, idType } = one
  const changed = await query(db, {
    name: `data-keys.reseal ${nameOf(one)}`,
    text: /* sql */ `
      with resealed as (
        select * from unnest($1::${idType}[], $2::bytea[], $3::bytea[]) as r (id, before, after)
      ), locked as materialized (
        select t.${id} as id, r.after from ${table} t join resealed r on r.id = t.${id} and r.before = t.${column}
         order by t.${id} for no key update of t)
      update ${table} t set ${column} = l.after from locked l where t.${id} = l.id returning 1`,
    values: [rows.map((row) => row.id), rows.map(({ sealed }) => sealed), rows.map(({ again }) => again)],
  })
  return changed.length
}

/** How many values of a column each version of the key has sealed, newest first. */
export async function countByVersion(
  db: Knex,
  { table, column }: SealedColumn,
): Promise<ReadonlyMap<number, number>> {
  const rows = await query<{ version: number; count: number }>(db, {
    name: `data-keys.count ${table}.${column}`,
    text: /* sql */ `
      select get_byte(${column}, 0) as version, count(*)::int as count
        from ${table} where ${column} is not null group by 1 order by 1 desc`,
  })
  return new Map(rows.map(({ version, count }) => [version, count]))
}

/** Takes the older versions out of use: from now on the database refuses what is sealed with them. */
export async function retireOlderKeys(
  trx: Knex.Transaction,
  sealing: number,
): Promise<{ readonly retired: readonly number[]; readonly transaction: string }> {
  const rows = await query<{ version: number }>(trx, {
    name: 'data-keys.retire',
    text: /* sql */ `
      update data_keys set retired_at = clock_timestamp() where version < $1 and retired_at is null returning version`,
    values: [sealing],
  })
  const [current] = await query<{ id: string }>(trx, {
    name: 'data-keys.transaction',
    text: 'select pg_current_xact_id()::text as id',
  })
  return { retired: rows.map(({ version }) => version), transaction: current?.id ?? '0' }
}

/** Whether every transaction has ended that may not have seen this one: none can still store what is sealed with an older key. */
export async function hasOnlyLater(db: Knex, transaction: string): Promise<boolean> {
  const [row] = await query<{ later: boolean }>(db, {
    name: 'data-keys.later',
    text: 'select pg_snapshot_xmin(pg_current_snapshot()) > $1::text::xid8 as later',
    values: [transaction],
  })
  return row?.later === true
}
