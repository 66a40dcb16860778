import { loadDatabase } from '../../src/platform/config/own-settings.js'
import { migrateToLatest, readMigrations } from '../../src/platform/database/migrations/migrate.js'
import { defineCommand, defineOptions, type Outcome } from './support/command.js'

const options = defineOptions({}, { '--check': 'change nothing; exit code 4 when migrations are missing' })

/** Brings the database to the newest schema: the release step of a deploy, also `npm run migrate`. */
const usage = `npm run migrate
npm run migrate -- --check

Brings the database to the newest schema. There is no plan: it acts immediately, because a release waits for it. Run it at
every deploy. Several machines may run it at the same time: one works, the others wait, at most 30 minutes. A run that was
killed blocks no other: run it again. Migrations of a newer release are named and left as they are.`

const upToDate = 'the database is up to date'

async function checkMigrations(): Promise<Outcome> {
  const { missing, unknown } = await readMigrations(loadDatabase().url)
  const found = missing.length === 0 ? upToDate : `missing: ${missing.join(', ')}; run npm run migrate`
  return { ok: missing.length === 0, text: `${found}${newerText(unknown)}`, json: { missing, unknown } }
}

function newerText(unknown: readonly string[]): string {
  return unknown.length === 0 ? '' : `; a newer release has applied ${unknown.join(', ')}`
}

export const command = await defineCommand(import.meta, {
  usage,
  options,
  async run({ check }) {
    if (check === true) return checkMigrations()
    const { applied, unknown } = await migrateToLatest(loadDatabase().url)
    const done = applied.length === 0 ? upToDate : `applied ${applied.join(', ')}`
    return { text: `${done}${newerText(unknown)}`, json: { migrations: applied, unknown } }
  },
})
