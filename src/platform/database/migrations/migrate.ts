import { readdir } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Knex } from 'knex'
import { createDb } from '../database.js'
import { makePartitions } from '../partitions.js'

const folder = join(dirname(fileURLToPath(import.meta.url)), '../../../../migrations')

/** An index on a large table needs this long. Waiting for a lock keeps the short limit, because it blocks the service. */
const migrationMs = 30 * 60_000
const pollMs = 250

/** Names are without extension, so that a `.ts` file and its compiled `.js` are the same one. */
export const migrationSource: Knex.MigrationSource<string> = {
  async getMigrations() {
    const files = await readdir(folder)
    return files.filter((file) => /\.(ts|js)$/.test(file) && !file.endsWith('.d.ts')).sort()
  },
  getMigrationName: (file) => basename(file, extname(file)),
  async getMigration(file) {
    const migration = (await import(pathToFileURL(join(folder, file)).href)) as Knex.Migration
    return { down: refuseDown, ...migration }
  },
}

/** The first schema has no `down`, which would delete all data. knex requires one. */
async function refuseDown(): Promise<never> {
  throw new Error('this migration is not taken back')
}

/** The rules of every run, also for knex's own commands. */
export const migrationRules = {
  // A newer release may have migrated this database. It only adds what this one can live with.
  disableMigrationsListValidation: true,
} as const satisfies Knex.MigratorConfig

/** `applied`: by this run. `unknown`: already in the database, but not in this release: those of a newer one. */
export interface Migrated {
  readonly applied: readonly string[]
  readonly unknown: readonly string[]
}

/** `waitMs`: how long to wait for another run to end. */
export interface MigrateOptions {
  readonly source?: Knex.MigrationSource<string>
  readonly waitMs?: number
}

/**
 * Applies the missing migrations, each in a transaction of its own unless its file says `config.transaction = false`. An
 * advisory lock serialises concurrent runs. Then makes the partitions of the next months.
 */
export async function migrateToLatest(
  url: string,
  { source = migrationSource, waitMs = migrationMs }: MigrateOptions = {},
): Promise<Migrated> {
  // One connection, so that the one that works is the one that has the lock. The lock ends with it.
  const db = createDb(url, 1, migrationMs)
  try {
    await takeLock(db, waitMs)
    // Only a run that was killed leaves knex's own lock, a row.
    await db.migrate.forceFreeMigrationsLock()
    await refuseForeign(db, source)
    const migrated = await applyMissing(db, { ...migrationRules, migrationSource: source })
    await makePartitions(db)
    return migrated
  } finally {
    await db.destroy()
  }
}

/** What `migrateToLatest` would do. Changes nothing, and takes no lock. */
export async function readMigrations(
  url: string,
  source: Knex.MigrationSource<string> = migrationSource,
): Promise<{ readonly missing: readonly string[]; readonly unknown: readonly string[] }> {
  const db = createDb(url, 1)
  try {
    const names = await namesOf(source)
    // knex's own list creates its tables when they are missing.
    if (!(await db.schema.hasTable('knex_migrations'))) return { missing: names, unknown: [] }
    const found: string[] = await db('knex_migrations').orderBy('id').pluck('name')
    return {
      missing: names.filter((name) => !found.includes(name)),
      unknown: found.filter((name) => !names.includes(name)),
    }
  } finally {
    await db.destroy()
  }
}

/**
 * Polls: a statement that waits for the lock would keep a snapshot open, and `create index concurrently` of the run that has
 * the lock would wait for it.
 */
async function takeLock(db: Knex, waitMs: number): Promise<void> {
  const end = Date.now() + waitMs
  for (;;) {
    const { rows } = await db.raw<{ rows: { taken: boolean }[] }>(
      `select pg_try_advisory_lock(hashtextextended('migrate', 0)) as taken`,
    )
    if (rows[0]?.taken === true) return
    if (Date.now() >= end)
      throw new Error('another process is migrating this database: wait until it ends, then run this again')
    await sleep(pollMs)
  }
}

/** A newer release has every migration of this one. A database that lacks some and has others was made before the first release. */
async function refuseForeign(db: Knex, source: Knex.MigrationSource<string>): Promise<void> {
  if (!(await db.schema.hasTable('knex_migrations'))) return
  const [names, found] = [await namesOf(source), await db('knex_migrations').pluck('name')]
  const unknown = found.filter((name) => !names.includes(name))
  if (unknown.length > 0 && names.some((name) => !found.includes(name)))
    throw new Error(
      `this database was made before the first release (it has ${unknown[0]}), and no way leads on from there: begin with an empty one (of npm run dev: remove the folder .data)`,
    )
}

/** One at a time: so a migration and its row in knex's table share a transaction. */
async function applyMissing(db: Knex, config: Knex.MigratorConfig & MigratorSource): Promise<Migrated> {
  const applied: string[] = []
  for (;;) {
    const [, [name]]: [number, string[]] = await db.migrate.up(config)
    if (name === undefined) break
    applied.push(name)
  }
  const known = await namesOf(config.migrationSource)
  const all: string[] = await db('knex_migrations').orderBy('id').pluck('name')
  return { applied, unknown: all.filter((name) => !known.includes(name)) }
}

async function namesOf(source: Knex.MigrationSource<string>): Promise<string[]> {
  return (await source.getMigrations([])).map((file) => source.getMigrationName(file))
}

interface MigratorSource {
  readonly migrationSource: Knex.MigrationSource<string>
}
