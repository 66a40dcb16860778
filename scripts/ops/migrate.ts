import { loadDatabaseUrl } from '../../src/platform/config/own-settings.js'
import { migrateToLatest } from '../../src/platform/database/migrate.js'
import { defineCommand, exitHelp, runAsProgram } from './support/command.js'

/** Brings the database to the newest schema: the release step of a deploy, also `npm run migrate`. */
const help = `npm run migrate

Brings the database to the newest schema. There is no plan: it acts immediately, because a release waits for it. Run it at
every deploy. Several machines may run it at the same time: one works, the others wait, at most 30 minutes. A run that was
killed blocks no other: run it again. Migrations of a newer release are named and left as they are.

  --json   print one line of JSON
  --help   print this text

${exitHelp}`

export const command = defineCommand({
  help,
  options: {},
  async run() {
    const { applied, unknown } = await migrateToLatest(loadDatabaseUrl())
    const done = applied.length === 0 ? 'the database is up to date' : `applied ${applied.join(', ')}`
    const newer = unknown.length === 0 ? '' : `; a newer release has applied ${unknown.join(', ')}`
    return { text: `${done}${newer}`, json: { migrations: applied, unknown } }
  },
})

await runAsProgram(import.meta, command)
