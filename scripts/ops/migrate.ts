import { loadDatabaseUrl } from '../../src/platform/config/config.js'
import { migrateToLatest } from '../../src/platform/database/migrate.js'
import { defineCommand, exitHelp, runAsProgram } from './support/command.js'

/** Brings the database to the newest schema: the release step of a deploy, also `npm run migrate`. */
const help = `npm run migrate

Brings the database to the newest schema. There is no plan: it acts immediately, because a release waits for it. Run it at
every deploy. Several machines may run it at the same time: one works, the others wait.

  --json   print one line of JSON
  --help   print this text

${exitHelp}`

export const command = defineCommand({
  help,
  options: {},
  async run() {
    const applied = await migrateToLatest(loadDatabaseUrl())
    const text = applied.length === 0 ? 'the database is up to date' : `applied ${applied.join(', ')}`
    return { text, json: { migrations: applied } }
  },
})

await runAsProgram(import.meta, command)
