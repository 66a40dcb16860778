import { loadDatabaseUrl } from '../src/platform/config.js'
import { migrateToLatest } from '../src/platform/migrate.js'
import { settingsOrEnd } from '../src/platform/start-settings.js'

/** `npm run migrate`: the release step. Safe to run at every deploy and from several machines at once. */
const applied = await migrateToLatest(settingsOrEnd(loadDatabaseUrl))
process.stdout.write(applied.length === 0 ? 'database is up to date\n' : `applied ${applied.join(', ')}\n`)
