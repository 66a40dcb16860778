import { readdir } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Knex } from 'knex'
import { createDb } from './database.js'

const folder = join(dirname(fileURLToPath(import.meta.url)), '../../../migrations')

/** An index on a large table takes its time; a lock that blocks the service does not get it. */
const migrationMs = 30 * 60_000

/** Names without extension, so that `.ts` and the compiled `.js` are the same migration. */
export const migrationSource: Knex.MigrationSource<string> = {
  async getMigrations() {
    const files = await readdir(folder)
    return files.filter((file) => /\.(ts|js)$/.test(file) && !file.endsWith('.d.ts')).sort()
  },
  getMigrationName: (file) => basename(file, extname(file)),
  getMigration: (file) => import(pathToFileURL(join(folder, file)).href) as Promise<Knex.Migration>,
}

/** Brings the database to the newest schema. Two at once are put in order by knex's own lock. Returns what was applied. */
export async function migrateToLatest(url: string): Promise<string[]> {
  const db = createDb(url, 2, migrationMs)
  try {
    const [, applied] = await db.migrate.latest({ migrationSource })
    return applied as string[]
  } finally {
    await db.destroy()
  }
}
