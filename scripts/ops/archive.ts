import { resolve } from 'node:path'
import type { Knex } from 'knex'
import {
  attachPartition,
  detachPartition,
  listPartitions,
  type Partition,
} from '../../src/platform/database/partitions.js'
import { forgetAgain } from '../../src/privacy/forget-again.js'
import { countNeeds, keptDays } from '../../src/webhooks/deliveries.js'
import { exportMonth, hasOtherFile, importMonth, isMonth, readManifest } from './support/archive/archive.js'
import {
  defineCommand,
  defineOptions,
  finalOptions,
  noArguments,
  type Outcome,
  parseVerb,
  type Values,
} from './support/command.js'
import { type Order, RefusedError, UsageError } from './support/order.js'
import { withDatabase } from './support/services.js'

const options = defineOptions(finalOptions, {
  '--month <partition>': 'a month of a table as list names it, such as events_2026_01',
  '--folder <folder>': 'where the file is, <partition>.csv.gz, and beside it its manifest, <partition>.json',
  '--detach': 'for export: then take the month out of its table, and keep it',
  '--drop': 'for export: then take it out, compare it with the file once more, and delete it',
  '--confirm <partition>': 'with --detach or --drop: the month once more',
  '--reason <text>': 'why, for the audit log; required to take a month out or put it back',
})

/** Lists the months of the tables that are partitioned, and moves closed ones to files and back. */
const usage = `npm run ops -- archive list
npm run ops -- archive export --month <partition> --folder <folder> [--detach|--drop] [--apply --confirm <partition> --reason <text>]
npm run ops -- archive attach --month <partition> [--folder <folder>] [--apply --reason <text>]

  list     each month with its rows and bytes
  export   writes a month that is over to a file, and reads it back. The service goes on meanwhile. Nothing is taken out without
           --detach or --drop, which need a month that ended ${keptDays + 1} days ago and that no enabled webhook waits for
  attach   puts a month back: one that was detached, else the rows of the file. What was erased meanwhile (closed accounts,
           deleted words) is erased again: then delete the file and export once more

It needs the owner of the tables, not a role of "database-roles". While a month is out, creators cannot read its events or have them sent
again, and a webhook that was disabled since does not get them. The file holds names and messages: keep it as a backup. It is not sent anywhere.`

type Given = Values<typeof options>
const mostMs = 60 * 60_000
/** Whoever began to write before the month ended has committed. */
const closedDays = 1

const busy =
  'the table was never free: something long runs on it, or what must be looked at takes long. Try again'

/** The month, also one that is only in a file. */
function partitionOf(
  all: readonly Partition[],
  { month: name }: Given,
): Partition & { readonly exists: boolean } {
  if (name === undefined) throw new UsageError('--month needs a month of a table, such as events_2026_01')
  const found = all.find((one) => one.name === name)
  if (found !== undefined) return { ...found, exists: true }
  const other = all.find(({ table }) => new RegExp(`^${table}_[0-9]{4}_(0[1-9]|1[0-2])$`).test(name))
  if (other === undefined) throw new RefusedError(`${name} is no month of a table: archive list has them`)
  return { ...other, name, month: name.slice(-7).replace('_', '-'), attached: false, exists: false }
}

function folderOf({ folder }: Given): string {
  if (!folder) throw new UsageError('--folder needs a folder')
  return resolve(folder)
}

async function list(db: Knex): Promise<Outcome> {
  const months: (Partition & { readonly rows: bigint })[] = []
  for (const partition of await listPartitions(db)) {
    const counted = await db.raw<{ rows: { n: bigint }[] }>('select count(*) as n from partitions.??', [
      partition.name,
    ])
    months.push({ ...partition, rows: counted.rows[0]?.n ?? 0n })
  }
  const { rows: faults } = await db.raw<{ rows: { partition: string }[] }>(
    'select partition from partition_faults()',
  )
  const lines = [
    ...months.map(
      ({ name, rows, bytes, attached }) =>
        `${name}  ${rows} rows  ${bytes} bytes${attached ? '' : '  detached'}`,
    ),
    ...faults.map(
      ({ partition }) => `${partition}  ${partition.endsWith('_default') ? 'HAS ROWS' : 'MISSING'}`,
    ),
  ]
  return { ok: faults.length === 0, text: lines.join('\n'), json: { months, faults } }
}

async function exportOne(db: Knex, given: Given, order: Order): Promise<Outcome> {
  const folder = folderOf(given)
  const partition = partitionOf(await listPartitions(db), given)
  const { name, exists, daysSince } = partition
  const takesOut = given.detach === true || given.drop === true
  const days = takesOut ? keptDays + 1 : closedDays
  if (!exists) throw new RefusedError(`the database has no ${name}`)
  if (daysSince < days) throw new RefusedError(`${name} has not been over for ${days} days`)
  if (takesOut) order.confirmed('archive', name)
  const done = given.drop === true ? 'exported and deleted' : takesOut ? 'exported and detached' : 'exported'
  if (!order.apply) return { text: order.tell(name, done), json: { partition: name, applied: false } }
  let written = await exportMonth(db, folder, partition)
  if (takesOut) {
    if (partition.attached) await detach(db, partition, order)
    // Nothing writes it any more. What was erased before that is erased from the file too.
    if (!(await isMonth(db, partition, written))) written = await exportMonth(db, folder, partition, written)
  }
  if (given.drop === true) await drop(db, partition, order)
  const { rows, sha256 } = written
  return {
    text: `${order.tell(name, done)}, ${rows} rows, SHA-256 ${sha256}`,
    json: { partition: name, applied: true, rows, sha256 },
  }
}

/** Throws RefusedError. */
async function detach(db: Knex, partition: Partition, order: Order): Promise<void> {
  const { name } = partition
  const refuseNeeded = async (trx: Knex): Promise<void> => {
    const needs = await countNeeds(trx, partition)
    if (needs > 0) throw new RefusedError(`${needs} webhooks or deliveries still wait for events of ${name}`)
  }
  // Most often it is refused here, while others can write.
  await refuseNeeded(db)
  const isDone = await detachPartition(db, partition, async (trx) => {
    await refuseNeeded(trx)
    await order.audit(trx, 'archive detach', `partition:${name}`)
  })
  if (!isDone) throw new RefusedError(busy)
}

async function drop(db: Knex, { name }: Partition, order: Order): Promise<void> {
  await db.transaction(async (trx) => {
    await trx.raw('lock table partitions.??', [name])
    const again = (await listPartitions(trx)).find((partition) => partition.name === name)
    if (again?.attached !== false)
      throw new RefusedError(`somebody has attached ${name} again: nothing is deleted`)
    await trx.raw('drop table partitions.??', [name])
    await order.audit(trx, 'archive drop', `partition:${name}`)
  })
}

async function attachOne(db: Knex, given: Given, order: Order): Promise<Outcome> {
  const partition = partitionOf(await listPartitions(db), given)
  const { name, attached, exists } = partition
  order.reason()
  const rows = exists ? undefined : readManifest(folderOf(given), partition).rows
  const json = { partition: name, applied: order.apply, rows }
  if (!order.apply) return { text: attached ? `${name} is attached` : order.tell(name, 'attached'), json }
  if (!exists) await importMonth(db, folderOf(given), partition)
  let forgotten = await forgetAgain(db, partition)
  if (!attached) {
    const isDone = await attachPartition(db, partition, (trx) =>
      order.audit(trx, 'archive attach', `partition:${name}`),
    )
    if (!isDone)
      throw new RefusedError(
        `${busy}: ${name} is in the database, detached. If it stays so after an update, export it with --drop and attach the file`,
      )
    // What was erased until then.
    forgotten += await forgetAgain(db, partition)
  }
  const erased = forgotten > 0 ? `; ${forgotten} events erased again` : ''
  const isStale =
    forgotten > 0 || (given.folder !== undefined && (await hasOtherFile(db, folderOf(given), partition)))
  const more = isStale ? `${erased || '; the file has other rows'}: delete the file and export once more` : ''
  return { text: `${order.tell(name, 'attached')}${more}`, json: { ...json, forgotten } }
}

async function run(given: Given, order: Order, [verb, ...more]: readonly string[]): Promise<Outcome> {
  noArguments(more)
  const act = { list, export: exportOne, attach: attachOne }[parseVerb(verb, ['list', 'export', 'attach'])]
  return withDatabase((db) => act(db, given, order), mostMs)
}

export const command = await defineCommand(import.meta, { usage, options, allowPositionals: true, run })
