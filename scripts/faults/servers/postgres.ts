import { migrateToLatest } from '../../../src/platform/database/migrations/migrate.js'
import { freePort } from '../../dev/ports.js'
import { type RunningPostgres, startPostgres } from '../../dev/postgres/postgres.js'

/** A PostgreSQL of this run with a migrated database. */
export async function startMigratedPostgres(
  folder: string,
): Promise<RunningPostgres & { readonly databaseUrl: string }> {
  const postgres = await startPostgres({ dataDir: folder, port: await freePort() })
  const databaseUrl = postgres.url('postgres')
  await migrateToLatest(databaseUrl)
  return { ...postgres, databaseUrl }
}
