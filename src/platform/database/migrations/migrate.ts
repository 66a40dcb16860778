import { readdir } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Knex } from 'knex'
import { createDb } from '../database.js'
import {
  foldedMigrations,
  migrationsBefore,
  missingBeforeFolding,
  renameFoldedMigrations,
} from './folded-migrations.js'

const folder = join(dirname(fileURLToPath(import.meta.url)), '../../../../migrations')

/** An index on a large table needs this long. Waiting for a lock keeps the short limit, because it blocks the service. */
const migrationMs = 30 * 60_000
const pollMs = 250

/** The migrations in a folder. Names are without extension, so that a `.ts` file and its compiled `.js` are the same one. */
function migrationsIn(place: string): Knex.MigrationSource<string> {
  return {
    async getMigrations() {
      const files = await readdir(place)
      return files.filter((file) => /\.(ts|js)$/.test(file) && !file.endsWith('.d.ts')).sort()
    },
    getMigrationName: (file) => basename(file, extname(file)),
    async getMigration(file) {
      const migration = (await import(pathToFileURL(join(place, file)).href)) as Knex.Migration
      return { down: refuseDown, ...migration }
    },
  }
}

export const migrationSource = migrationsIn(folder)
/** What a database of an older release still needs before its migrations are renamed. */
export const sourceBeforeFolding = migrationsIn(join(folder, 'before-folding'))

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
 * advisory lock serialises concurrent runs.
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
    const older = await finishBeforeFolding(db)
    const { applied, unknown } = await applyMissing(db, { ...migrationRules, migrationSource: source })
    return { applied: [...older, ...applied], unknown }
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
    const beforeFolding = found.some((name) => migrationsBefore.includes(name))
    const has = new Set([...found, ...(beforeFolding ? foldedMigrations : [])])
    // The old names are replaced by the new ones even if nothing else is missing.
    const older = beforeFolding ? [...(await missingBeforeFolding(db)), ...foldedMigrations] : []
    return {
      missing: [...older, ...names.filter((name) => !has.has(name))],
      unknown: found.filter((name) => !names.includes(name) && !migrationsBefore.includes(name)),
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

/** Brings a database of a release before the folding to where the folded migrations begin. */
async function finishBeforeFolding(db: Knex): Promise<readonly string[]> {
  const missing = await missingBeforeFolding(db)
  const config = { ...migrationRules, migrationSource: sourceBeforeFolding }
  const { applied } = missing.length > 0 ? await applyMissing(db, config) : { applied: [] }
  if (await db.schema.hasTable('knex_migrations')) await renameFoldedMigrations(db)
  return applied
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
