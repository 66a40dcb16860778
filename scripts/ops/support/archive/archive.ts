import { existsSync, readFileSync } from 'node:fs'
import { mkdir, open, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Knex } from 'knex'
import { longTransaction, query } from '../../../../src/platform/database/database.js'
import type { Partition } from '../../../../src/platform/database/partitions.js'
import { RefusedError } from '../order.js'
import { type Digest, digestOf, type Row, readCsv, writeCsv } from './csv-file.js'

interface Column {
  readonly name: string
  readonly type: string
}

/** What stands beside the rows of a month, as JSON. */
interface Manifest extends Digest {
  readonly table: string
  readonly month: string
  readonly columns: readonly Column[]
  readonly exportedAt: string
}

/** A whole month is read within this time. */
const readMs = 60 * 60_000
const batchRows = 1000

const csvOf = (folder: string, name: string): string => join(folder, `${name}.csv.gz`)
const manifestOf = (folder: string, name: string): string => join(folder, `${name}.json`)

/** Columns of a table, in their order. */
function readColumns(db: Knex, table: string): Promise<Column[]> {
  return query<Column>(db, {
    name: 'archive.columns',
    text: /* sql */ `
      select attname as name, format_type(atttypid, null) as type from pg_attribute
      where attrelid = $1::text::regclass and attnum > 0 and not attisdropped order by attnum`,
    values: [table],
  })
}

/** The rows of a month as texts, in the order of its primary key, whatever the settings of the session. */
async function* rowsOf(
  trx: Knex.Transaction,
  name: string,
  columns: readonly Column[],
): AsyncGenerator<readonly Row[]> {
  await trx.raw(`set local timezone = 'UTC'; set local datestyle = 'ISO'`)
  const texts = trx
    .raw(
      columns.map(() => '??::text').join(', '),
      columns.map((column) => column.name),
    )
    .toQuery()
  const { rows: keys } = await trx.raw<{ rows: { name: string }[] }>(
    `select attname as name from pg_index i join pg_attribute a on a.attrelid = i.indexrelid
     where i.indrelid = ?::regclass and i.indisprimary order by attnum`,
    [`partitions.${name}`],
  )
  const order = trx
    .raw(
      keys.map(() => '??').join(', '),
      keys.map((key) => key.name),
    )
    .toQuery()
  await trx.raw(
    `declare month_rows cursor for select array[${texts}] as texts from partitions.?? order by ${order}`,
    [name],
  )
  for (;;) {
    const { rows } = await trx.raw<{ rows: { texts: Row }[] }>(`fetch ${batchRows} from month_rows`)
    if (rows.length === 0) break
    yield rows.map(({ texts }) => texts)
  }
  await trx.raw('close month_rows')
}

/** Reads a month as it is at one moment. `of`: only these of its columns. */
function readMonth<Result>(
  db: Knex,
  { name }: Pick<Partition, 'name'>,
  work: (header: Row, rows: AsyncIterable<readonly Row[]>, columns: readonly Column[]) => Promise<Result>,
  of?: readonly Column[],
): Promise<Result> {
  return longTransaction(
    db,
    readMs,
    async (trx) => {
      // Its own: one that was detached has none that a migration has added since.
      const columns = of ?? (await readColumns(trx, `partitions.${name}`))
      return work(
        columns.map((column) => column.name),
        rowsOf(trx, name, columns),
        columns,
      )
    },
    { isolationLevel: 'repeatable read', readOnly: true },
  )
}

/**
 * Writes a month to a file with its manifest, reads it back, and returns the manifest. Throws RefusedError when the file read back is not
 * what was written, or another one is there: `replaced` says which may be.
 */
export async function exportMonth(
  db: Knex,
  folder: string,
  partition: Pick<Partition, 'name' | 'table' | 'month'>,
  replaced?: Digest,
): Promise<Manifest> {
  const { name, table, month } = partition
  const [file, manifestFile] = [csvOf(folder, name), manifestOf(folder, name)]
  const part = `${file}.part`
  const made = await mkdir(folder, { recursive: true })
  await rm(part, { force: true })
  const manifest = await readMonth(db, partition, async (header, rows, columns) => {
    const digest = await writeCsv(part, header, rows)
    return { table, month, ...digest, columns, exportedAt: new Date().toISOString() }
  })
  const back = await readCsv(part, async () => undefined)
  if (!isSame(back, manifest)) throw new RefusedError(`${part} is not what was written: is the disk broken?`)
  const before = existsSync(manifestFile) ? readManifest(folder, partition) : undefined
  if (before !== undefined && !isSame(before, manifest) && before.sha256 !== replaced?.sha256)
    throw new RefusedError(
      `${file} has other rows (${before.rows}, here are ${manifest.rows}): delete it or move it away first`,
    )
  await rename(part, file)
  await writeFile(`${manifestFile}.part`, `${JSON.stringify(manifest, null, 2)}\n`, {
    mode: 0o600,
    flush: true,
  })
  await rename(`${manifestFile}.part`, manifestFile)
  await syncFolder(folder)
  if (made !== undefined) await syncFolder(dirname(made))
  return manifest
}

/** After a power failure the folder has the files that it has now, by their names. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder)
  await handle.sync().finally(() => handle.close())
}

const isSame = (one: Digest, other: Digest): boolean => one.rows === other.rows && one.sha256 === other.sha256

/** Whether the month has exactly these rows. */
export async function isMonth(db: Knex, partition: Partition, expected: Digest): Promise<boolean> {
  return isSame(await readMonth(db, partition, digestOf), expected)
}

/** Whether the folder has a file of the month that is not what its columns hold now: they may have been erased since. */
export async function hasOtherFile(db: Knex, folder: string, partition: Partition): Promise<boolean> {
  if (!existsSync(manifestOf(folder, partition.name))) return false
  const manifest = readManifest(folder, partition)
  const own = new Set((await readColumns(db, `partitions.${partition.name}`)).map(({ name }) => name))
  if (manifest.columns.some(({ name }) => !own.has(name))) return true
  return !isSame(await readMonth(db, partition, digestOf, manifest.columns), manifest)
}

/** Throws RefusedError. */
export function readManifest(
  folder: string,
  { name, table, month }: Pick<Partition, 'name' | 'table' | 'month'>,
): Manifest {
  const file = manifestOf(folder, name)
  if (!existsSync(file)) throw new RefusedError(`there is no ${file}`)
  const manifest = JSON.parse(readFileSync(file, 'utf8')) as Manifest
  if (manifest.table !== table || manifest.month !== month)
    throw new RefusedError(`${file} is of another month`)
  return manifest
}

/**
 * Makes a month of the file, beside its table, and compares it with the manifest. Columns that migrations have added since are null or
 * have their default. Throws RefusedError; then nothing is made.
 */
export async function importMonth(
  db: Knex,
  folder: string,
  { name, table, month }: Pick<Partition, 'name' | 'table' | 'month'>,
): Promise<Manifest> {
  const manifest = readManifest(folder, { name, table, month })
  const file = csvOf(folder, name)
  await longTransaction(db, readMs, async (trx) => {
    const { columns } = manifest
    const current = new Map((await readColumns(trx, table)).map((column) => [column.name, column.type]))
    const other = columns.find((column) => current.get(column.name) !== column.type)
    if (other !== undefined)
      throw new RefusedError(
        `${table} has no column ${other.name} of the type ${other.type}, which ${file} has`,
      )
    await trx.raw('create table partitions.?? (like ?? including all)', [name, table])
    const text = insertOf(trx, name, columns)
    const read = await readCsv(file, async (rows) => {
      const values = columns.map((_, place) => rows.map((row) => row[place] ?? null))
      if (rows.length > 0) await query(trx, { name: `archive.insert ${name}`, text, values })
    })
    const made = await digestOf(
      columns.map((column) => column.name),
      rowsOf(trx, name, columns),
    )
    if (!isSame(read, manifest) || !isSame(made, manifest))
      throw new RefusedError(
        `${file} is not what its manifest says: ${manifest.rows} rows with SHA-256 ${manifest.sha256}`,
      )
  })
  return manifest
}

/** One array of texts for each column. */
function insertOf(trx: Knex, name: string, columns: readonly Column[]): string {
  const list = (each: (column: Column, place: number) => string): string => columns.map(each).join(', ')
  const target = trx
    .raw(`?? (${list(() => '??')})`, [name, ...columns.map((column) => column.name)])
    .toQuery()
  return /* sql */ `
    insert into partitions.${target} select ${list(({ type }, place) => `v.c${place}::${type}`)}
    from unnest(${list((_, place) => `$${place + 1}::text[]`)}) as v(${list((_, place) => `c${place}`)})`
}
