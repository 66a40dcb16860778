import { readdir } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Knex } from 'knex'
import { createDb } from './database.js'

const folder = join(dirname(fileURLToPath(import.meta.url)), '../../../migrations')

/** An index on a large table needs this long. Waiting for a lock keeps the short limit, because it blocks the service. */
const migrationMs = 30 * 60_000

/** Names are without extension, so that a `.ts` file and its compiled `.js` are the same migration. */
export const migrationSource: Knex.MigrationSource<string> = {
  async getMigrations() {
    const files = await readdir(folder)
    return files.filter((file) => /\.(ts|js)$/.test(file) && !file.endsWith('.d.ts')).sort()
  },
  getMigrationName: (file) => basename(file, extname(file)),
  getMigration: (file) => import(pathToFileURL(join(folder, file)).href) as Promise<Knex.Migration>,
}

/** Applies the missing migrations and returns their names. knex's lock serialises concurrent runs. */
export async function migrateToLatest(url: string): Promise<string[]> {
  const db = createDb(url, 2, migrationMs)
  try {
    const [, applied] = await db.migrate.latest({ migrationSource })
    return applied as string[]
  } finally {
    await db.destroy()
  }
}
