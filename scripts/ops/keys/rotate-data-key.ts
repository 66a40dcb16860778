import { setTimeout as sleep } from 'node:timers/promises'
import type { Knex } from 'knex'
import type { DataKeys } from '../../../src/kernel/personal-data.js'
import { loadDataKeys } from '../../../src/platform/config/own-settings.js'
import { openDataKeys } from '../../../src/privacy/keys/open-data-keys.js'
import {
  countByVersion,
  hasOnlyLater,
  resealBatch,
  retireOlderKeys,
} from '../../../src/privacy/keys/reseal.js'
import { sealedColumns } from '../../../src/privacy/keys/sealed-columns.js'
import { applyOptions, defineCommand } from '../support/command.js'
import { type Order, RefusedError } from '../support/order.js'
import { planOrRotate, type Rotation, type Walked } from '../support/rotation.js'
import { withDatabase } from '../support/services.js'
import { createProgress } from '../support/text.js'

/** Seals the personal data again under the first value of DATA_KEY, so that the second may go. */
const usage = `npm run ops -- keys rotate-data [--apply]

Seals all personal data again under the first value of DATA_KEY: addresses of payers and of mails to them, bank accounts and
names, secrets of authenticator apps, files of exports. It needs DATABASE_URL and DATA_KEY=<new>,<old>. Before, set that list for
every process that reads DATA_KEY, and restart these (docs/keys.md has the steps). Without --apply it counts by key.

It may run while the service works, twice at a time, and may be killed: run it again. At the end the old key is taken out of use:
the database then refuses what a process seals with it. Only when it prints that the old key may be taken out of the settings, do
that. Exit code 4: something is not sealed with the new key yet.`

/** Counting reads whole tables. */
const statementMs = 120_000
const laterMs = 60_000
const pauseMs = 100

/** With the older key first everything would be sealed with it again, and the one that must stay would seem to be out of use. */
function refuseOlderFirst({ sealing }: DataKeys, newest: number): void {
  if (newest > sealing)
    throw new RefusedError(
      `the first value of DATA_KEY is version ${sealing}, and version ${newest} is newer: set DATA_KEY=<new>,<old> for every ` +
        'process and here, then run this again',
    )
}

function rotationOf(db: Knex, dataKeys: DataKeys, order: Order): Rotation {
  const { given, sealing } = dataKeys
  return {
    what: 'values',
    broken: 'values do not open',
    sealing,
    oneKey:
      given.length > 1
        ? undefined
        : 'DATA_KEY has one value. To change it, set DATA_KEY=<this>,<new>, and then DATA_KEY=<new>,<this>',
    others: 'data is still being sealed with the old key: restart every process with DATA_KEY=<new>,<old>',
    done:
      given.length === 1
        ? 'DATA_KEY has one value: nothing to take out'
        : 'nothing is sealed with the old key any more: it may be taken out of the settings',
    walk: () => resealAll(db, dataKeys),
    async retire({ count }, rows) {
      if (count > 0) return false
      const transaction = await retire(db, dataKeys, order, rows)
      if (!(await untilLater(db, transaction)))
        return 'a transaction from before is still open: run this again'
      return resealAll(db, dataKeys)
    },
    async read() {
      const counts = await countAll(db)
      const all = Object.entries(counts).flatMap(([name, versions]) =>
        Object.entries(versions).map(([version, count]) => ({ name, version, count })),
      )
      return {
        lines: all.map(({ name, version, count }) => `${name}, version ${version}: ${count}`),
        json: { sealing, counts },
        waiting: all.reduce(
          (sum, { version, count }) => (Number(version) === sealing ? sum : sum + count),
          0,
        ),
      }
    },
  }
}

/** One walk over everything that is sealed. */
async function resealAll(db: Knex, dataKeys: DataKeys): Promise<Walked> {
  let count = 0
  const broken: string[] = []
  const say = createProgress()
  for (const column of sealedColumns) {
    let after: string | undefined
    for (;;) {
      const done = await resealBatch(db, dataKeys, column, after)
      count += done.rows
      broken.push(...done.broken)
      if (done.last === undefined) break
      after = done.last
      say(`${count} values are sealed again; ${column.table}.${column.column} at ${after}`)
    }
  }
  return { count, broken }
}

function retire(db: Knex, dataKeys: DataKeys, order: Order, rows: number): Promise<string> {
  return db.transaction(async (trx) => {
    const { retired, transaction } = await retireOlderKeys(trx, dataKeys.sealing)
    const subject = `data-key:${dataKeys.sealing}`
    if (retired.length > 0) await order.audit(trx, 'rotate-data-key', subject, { retired, rows })
    return transaction
  })
}

async function untilLater(db: Knex, transaction: string): Promise<boolean> {
  for (const deadline = performance.now() + laterMs; performance.now() < deadline; await sleep(pauseMs))
    if (await hasOnlyLater(db, transaction)) return true
  return false
}

type Counts = Readonly<Record<string, Readonly<Record<string, number>>>>

async function countAll(db: Knex): Promise<Counts> {
  const counts: Record<string, Record<string, number>> = {}
  for (const column of sealedColumns)
    counts[`${column.table}.${column.column}`] = Object.fromEntries(await countByVersion(db, column))
  return counts
}

export const command = await defineCommand(import.meta, {
  usage,
  options: applyOptions,
  run: (_, order) =>
    withDatabase(async (db) => {
      const dataKeys = loadDataKeys()
      refuseOlderFirst(dataKeys, await openDataKeys(db, dataKeys, order.apply))
      return planOrRotate(rotationOf(db, dataKeys, order), order)
    }, statementMs),
})
