import test, { type ExecutionContext } from 'ava'
import type { Knex } from 'knex'
import { createDb } from '../../src/platform/database/database.js'
import {
  migrateToLatest,
  migrationRules,
  migrationSource,
  readMigrations,
} from '../../src/platform/database/migrations/migrate.js'
import { createControlledCall } from '../helpers/controlled-call.js'
import { runOpsScript, spawnOpsScript } from '../helpers/run-ops-script.js'
import { createDatabase } from '../helpers/servers/database.js'
import { until } from '../helpers/until.js'

const nothing = { up: async () => undefined, down: async () => undefined }

/** `template`: `template0` makes an empty one. */
async function newDatabase(t: ExecutionContext, template?: string): Promise<{ url: string; db: Knex }> {
  const database = await createDatabase(template)
  const db = createDb(database.url, 3)
  t.teardown(() => db.destroy())
  return { url: database.url, db }
}

/** The files of a release that has one more migration. */
function withLater(migration: Knex.Migration): Knex.MigrationSource<string> {
  return {
    getMigrations: async () => [...(await migrationSource.getMigrations([])), 'later'],
    getMigrationName: (file) => (file === 'later' ? file : migrationSource.getMigrationName(file)),
    getMigration: async (file) => (file === 'later' ? migration : migrationSource.getMigration(file)),
  }
}

const namesIn = (db: Knex): Promise<string[]> => db('knex_migrations').orderBy('name').pluck('name')

test('a first migration is not taken back', async (t) => {
  const { db } = await newDatabase(t)
  const before = await namesIn(db)
  const down = db.migrate.down({ ...migrationRules, migrationSource, name: '0012-treasury' })
  await t.throwsAsync(down, { message: 'this migration is not taken back' })
  t.deepEqual(await namesIn(db), before)
})

test('two programs that migrate an empty database at once both exit with 0, and one does the work', async (t) => {
  const { url, db } = await newDatabase(t, 'template0')
  const env = { DATABASE_URL: url }
  const runs = await Promise.all([spawnOpsScript({ env }, 'migrate'), spawnOpsScript({ env }, 'migrate')])
  t.deepEqual(
    runs.map(({ code, err }) => [code, err]),
    [
      [0, ''],
      [0, ''],
    ],
  )
  const applied = `applied ${(await namesIn(db)).join(', ')}\n`
  t.deepEqual(runs.map(({ out }) => out).sort(), [applied, 'the database is up to date\n'])
})

test('each migration has a number of its own', async (t) => {
  const names = (await migrationSource.getMigrations([])).map(migrationSource.getMigrationName)
  const numbers = names.map((name) => name.slice(0, 4))
  t.deepEqual(numbers, [...new Set(numbers)])
})

test('a row in the lock table stops nobody, and later migrations follow', async (t) => {
  const { url, db } = await newDatabase(t)
  const names = await namesIn(db)
  await db('knex_migrations_lock').update({ is_locked: 1 })
  t.deepEqual(await migrateToLatest(url, { source: withLater(nothing) }), { applied: ['later'], unknown: [] })
  t.deepEqual(await namesIn(db), [...names, 'later'])
})

test('a database from before the first release is told what to do, and stays as it is', async (t) => {
  const { url, db } = await newDatabase(t)
  await db('knex_migrations').where({ name: '0014-privacy' }).update({ name: '0030-further-payees' })
  const before = await namesIn(db)
  await t.throwsAsync(migrateToLatest(url), {
    message: /before the first release \(it has 0030-further-payees\)/,
  })
  t.deepEqual(await namesIn(db), before)
})

test('an older release exits with 0 on a newer database and names the migrations it does not have', async (t) => {
  const { url } = await newDatabase(t)
  await migrateToLatest(url, { source: withLater(nothing) })
  const { code, out, err } = await spawnOpsScript({ env: { DATABASE_URL: url } }, 'migrate')
  t.is(`${code} ${out}${err}`, '0 the database is up to date; a newer release has applied later\n')
})

test('migrate --check exits with 4 until the database is up to date, and changes nothing', async (t) => {
  const { url, db } = await newDatabase(t, 'template0')
  const env = { DATABASE_URL: url }
  const empty = await runOpsScript({ env }, 'migrate', '--check')
  t.is(empty.code, 4)
  t.regex(empty.out, /^missing: 0001-platform, .*; run npm run migrate\n$/)
  t.false(await db.schema.hasTable('knex_migrations'))
  await migrateToLatest(url)
  t.deepEqual(await readMigrations(url), { missing: [], unknown: [] })
  const done = await runOpsScript({ env }, 'migrate', '--check', '--json')
  t.is(`${done.code} ${done.out}`, '0 {"ok":true,"missing":[],"unknown":[]}\n')
  t.deepEqual(await readMigrations(url, withLater(nothing)), { missing: ['later'], unknown: [] })
})

test('a run waits for another, or says at last that another one works', async (t) => {
  const { url } = await newDatabase(t)
  const work = createControlledCall<Knex, void>()
  const first = migrateToLatest(url, { source: withLater({ ...nothing, up: work.run }) })
  const call = await work.next()
  const message = /^another process is migrating this database: wait until it ends/
  await t.throwsAsync(migrateToLatest(url, { waitMs: 0 }), { message })
  const second = migrateToLatest(url, { source: withLater(nothing) })
  call.resolve()
  t.deepEqual((await first).applied, ['later'])
  t.deepEqual((await second).applied, [])
})

/** As docs/contributing.md says. */
const concurrently: Knex.Migration & { config: { transaction: boolean } } = {
  ...nothing,
  config: { transaction: false },
  async up(knex) {
    await knex.raw('set lock_timeout = 0')
    await knex.raw('drop index concurrently if exists tips_later')
    await knex.raw('create index concurrently tips_later on tips (slot)')
    await knex.raw('reset lock_timeout')
  },
}

test('an index is built concurrently while a transaction has the table, another run waits, and a broken attempt is left', async (t) => {
  const { url, db } = await newDatabase(t)
  await db.raw('create index tips_later on tips (slot)')
  await db.raw(`update pg_index set indisvalid = false where indexrelid = 'tips_later'::regclass`)
  const sessions = async (condition: string): Promise<boolean> => {
    const { rows } = await db.raw<{ rows: unknown[] }>(
      `select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and ${condition}`,
    )
    return rows.length > 0
  }
  const transaction = await db.transaction()
  await transaction.raw('set local idle_in_transaction_session_timeout = 0')
  await transaction.raw('update tips set slot = 1')
  const first = migrateToLatest(url, { source: withLater(concurrently) })
  await until('the index waits', () => sessions(`wait_event_type = 'Lock' and query ~ 'index concurrently'`))
  const second = migrateToLatest(url, { source: withLater(concurrently) })
  await until('the second run waits', () => sessions(`state = 'idle' and query ~ 'pg_try_advisory_lock'`))
  await transaction.commit()
  t.deepEqual((await first).applied, ['later'])
  t.deepEqual((await second).applied, [])
  const index = db('pg_index').whereRaw(`indexrelid = 'tips_later'::regclass`)
  t.deepEqual(await index.pluck('indisvalid'), [true])
})
