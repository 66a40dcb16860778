import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { loadDatabase } from '../../src/platform/config/own-settings.js'
import { query } from '../../src/platform/database/database.js'
import { readEpoch } from '../../src/platform/database/restore-guard.js'
import { defineCommand, defineOptions, type Outcome, type Values } from './support/command.js'
import { RefusedError, UsageError } from './support/order.js'
import { dumpDatabase, findPgDump } from './support/pg-dump.js'
import { withDatabase } from './support/services.js'

const options = defineOptions(
  {},
  {
    '--out <file>': 'the file; it must not exist',
    '--pg-dump <path>':
      'the pg_dump to use; default: the first that fits, on the PATH or in /usr/lib/postgresql',
  },
)

/** Writes a backup of the database to a file, while the service runs. */
const usage = `npm run ops -- backup --out <file>

Writes the whole database to a new file, in pg_dump's custom format, as it is at one moment. The service goes on meanwhile. The
file has its name only when it is whole. It needs the owner of the tables, not a role of "database-roles", and a pg_dump that is not
older than the server.

The file holds everything but the keys: sealed wallets, bank accounts, ledger. Keep it encrypted, in another place, and not beside
WALLET_KEK. What happens after it is not in it: also archive the WAL (docs/restore.md).`

/** A clock says every ten seconds that the rows are where they were. */
const oldSeconds = 60

async function run({ out, 'pg-dump': given }: Values<typeof options>): Promise<Outcome> {
  if (!out) throw new UsageError('--out needs a file')
  const file = resolve(out)
  if (existsSync(file)) throw new RefusedError(`${file} exists`)
  const { version, epoch } = await withDatabase(async (db) => {
    const [server] = await query<{ version: number }>(db, {
      name: 'backup.version',
      text: `select current_setting('server_version_num')::int / 10000 as version`,
      values: [],
    })
    return { version: server?.version ?? 0, epoch: await readEpoch(db) }
  })
  const startedAt = Date.now()
  const bytes = await dumpDatabase(findPgDump(version, given), loadDatabase().url, file)
  const seconds = Math.round((Date.now() - startedAt) / 1000)
  const isOld = epoch.seenAt === null || startedAt - epoch.seenAt.getTime() > oldSeconds * 1000
  const warning = isOld
    ? `\nno clock runs: after a restore everything since ${epoch.seenAt?.toISOString() ?? 'the beginning'} would be compared`
    : ''
  return {
    text: `${file}: ${bytes} bytes in ${seconds} s${warning}`,
    json: { file, bytes, seconds, seenAt: epoch.seenAt?.toISOString() ?? null },
  }
}

export const command = await defineCommand(import.meta, { usage, options, run })
