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
import {
  actorOf,
  applyHint,
  applyOptions,
  defineCommand,
  type Outcome,
  RefusedError,
} from '../support/command.js'
import { recordAudit } from '../support/record-audit.js'
import { withDatabase } from '../support/with-database.js'

/** Seals the personal data again under the first value of DATA_KEY, so that the second may go. */
const usage = `npm run ops -- keys rotate-data [--apply]

Seals all personal data again under the first value of DATA_KEY: addresses of payers and of mails to them, bank accounts and
names, secrets of authenticator apps, files of exports. It needs DATABASE_URL and DATA_KEY=<new>,<old>. Before, set that list for
every process that reads DATA_KEY, and restart these (docs/keys.md has the steps). Without --apply it counts by key.

It may run while the service works, twice at a time, and may be killed: run it again. At the end the old key is taken out of use:
the database then refuses what a process seals with it. Only when it prints that the old key may be taken out of the settings, do
that. Exit code 4: something is not sealed with the new key yet.`

/** Processes that still seal with the old key go on until it is retired. */
const mostPasses = 20
const progressEach = 10
const brokenShown = 10
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

interface Progress {
  readonly rows: number
  readonly broken: readonly string[]
}

async function apply(db: Knex, dataKeys: DataKeys, actor: string): Promise<Outcome> {
  let rows = 0
  const walk = async (): Promise<Progress> => {
    const done = await resealAll(db, dataKeys)
    rows += done.rows
    return done
  }
  for (let pass = 1; pass <= mostPasses; pass++) {
    const done = await walk()
    if (done.broken.length > 0) return presentBroken(db, dataKeys, rows, done.broken)
    if (done.rows > 0) continue
    const transaction = await retire(db, dataKeys, actor, rows)
    if (!(await untilLater(db, transaction)))
      return present(db, dataKeys, rows, 'a transaction from before is still open: run this again')
    const last = await walk()
    if (last.broken.length > 0) return presentBroken(db, dataKeys, rows, last.broken)
    const end =
      dataKeys.given.length === 1
        ? 'DATA_KEY has one value: nothing to take out'
        : 'nothing is sealed with the old key any more: it may be taken out of the settings'
    return present(db, dataKeys, rows, end, true)
  }
  return present(
    db,
    dataKeys,
    rows,
    'data is still being sealed with the old key: restart every process with DATA_KEY=<new>,<old>, then run this again',
  )
}

/** One walk over everything that is sealed. Prints how far it is. */
async function resealAll(db: Knex, dataKeys: DataKeys): Promise<Progress> {
  let rows = 0
  const broken: string[] = []
  for (const column of sealedColumns) {
    let after: string | undefined
    for (let batch = 1; ; batch++) {
      const done = await resealBatch(db, dataKeys, column, after)
      rows += done.rows
      broken.push(...done.broken)
      if (done.last === undefined) break
      after = done.last
      if (batch % progressEach === 0)
        process.stderr.write(
          `${rows} values are sealed again; ${column.table}.${column.column} at ${after}\n`,
        )
    }
  }
  return { rows, broken }
}

function retire(db: Knex, dataKeys: DataKeys, actor: string, rows: number): Promise<string> {
  return db.transaction(async (trx) => {
    const { retired, transaction } = await retireOlderKeys(trx, dataKeys.sealing)
    const subject = `data-key:${dataKeys.sealing}`
    if (retired.length > 0)
      await recordAudit(trx, { actor, action: 'rotate-data-key', subject, details: { retired, rows } })
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

function linesOf(counts: Counts): string[] {
  return Object.entries(counts).flatMap(([name, versions]) =>
    Object.entries(versions).map(([version, count]) => `${name}, version ${version}: ${count}`),
  )
}

async function presentPlan(db: Knex, { given, sealing }: DataKeys): Promise<Outcome> {
  const counts = await countAll(db)
  const waiting = Object.values(counts)
    .flatMap((versions) => Object.entries(versions))
    .reduce((sum, [version, count]) => (Number(version) === sealing ? sum : sum + count), 0)
  const hint =
    given.length === 1
      ? 'DATA_KEY has one value. To change it, set DATA_KEY=<this>,<new>, and then DATA_KEY=<new>,<this>'
      : `${waiting} values would be sealed again with version ${sealing}; ${applyHint}`
  return { text: [...linesOf(counts), hint].join('\n'), json: { applied: false, sealing, counts } }
}

function presentBroken(
  db: Knex,
  dataKeys: DataKeys,
  rows: number,
  broken: readonly string[],
): Promise<Outcome> {
  const names = broken.slice(0, brokenShown).join(', ')
  return present(
    db,
    dataKeys,
    rows,
    `${broken.length} values do not open: ${names}. They are unchanged; keep every key`,
  )
}

async function present(
  db: Knex,
  { sealing }: DataKeys,
  rows: number,
  end: string,
  ok = false,
): Promise<Outcome> {
  const counts = await countAll(db)
  return {
    ok,
    text: [`${rows} values were sealed again with version ${sealing}`, ...linesOf(counts), end].join('\n'),
    json: { applied: true, sealing, resealed: rows, counts, done: ok },
  }
}

export const command = await defineCommand(import.meta, {
  usage,
  options: applyOptions,
  run: (values) =>
    withDatabase(async (db) => {
      const dataKeys = loadDataKeys()
      refuseOlderFirst(dataKeys, await openDataKeys(db, dataKeys, values.apply === true))
      return values.apply === true ? apply(db, dataKeys, actorOf(values)) : presentPlan(db, dataKeys)
    }, statementMs),
})
