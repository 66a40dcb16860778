import { loadDatabaseUrl } from '../../src/platform/config/config.js'
import { migrateToLatest } from '../../src/platform/database/migrate.js'
import { exitHelp, runCommand } from './support/command.js'

/** `npm run migrate`: the release step. Safe to run at every deploy and from several machines at once. */
const help = `npm run migrate

Brings the database to the newest schema, at once: a release waits for it. Safe to run at every deploy and from several
machines at once.

  --json   answer as one line of JSON
  --help

${exitHelp}`

await runCommand({
  help,
  options: {},
  async run() {
    const applied = await migrateToLatest(loadDatabaseUrl())
    const text = applied.length === 0 ? 'database is up to date' : `applied ${applied.join(', ')}`
    return { text, json: { migrations: applied } }
  },
})
