import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { migrateToLatest } from '../../../src/platform/database/migrations/migrate.js'
import { createRoles } from '../../database/create-roles.js'
import { rolesSql } from '../../database/roles-sql.js'
import { withConnection } from './session.js'

/** The migrated database that every test file copies. */
export const templateName = 'tipping_template'
const draftName = 'tipping_template_draft'
const migrations = 'dist/migrations'
const dropsAtOnce = 8

/**
 * Creates the template database and the roles of the processes, unless it exists and was made by the same migrations and rights
 * (their fingerprint is its comment).
 * `server`: the server's URL, ending in a slash. Returns whether it was created.
 */
export async function ensureTemplate(server: string): Promise<boolean> {
  const wanted = fingerprint()
  return await withConnection(`${server}postgres`, async (admin) => {
    const { rows } = await admin.query<{ comment: string | null }>(
      `select shobj_description(oid, 'pg_database') as comment from pg_database where datname = $1`,
      [templateName],
    )
    if (rows[0]?.comment === wanted) return false
    await admin.query(`drop database if exists ${draftName} with (force)`)
    await admin.query(`create database ${draftName}`)
    await migrateToLatest(`${server}${draftName}`)
    await createRoles(`${server}${draftName}`)
    // Renamed only when the schema is complete. A killed run leaves a draft that the next run drops.
    await admin.query(`comment on database ${draftName} is '${wanted}'`)
    await admin.query(`drop database if exists ${templateName} with (force)`)
    await admin.query(`alter database ${draftName} rename to ${templateName}`)
    return true
  })
}

/**
 * Drops the tests' databases whose names begin with `prefix`. Without one it drops what killed runs left: only for a server
 * that belongs to the tests alone.
 */
export async function dropDatabases(server: string, prefix = ''): Promise<void> {
  await withConnection(`${server}postgres`, async (admin) => {
    const { rows } = await admin.query<{ datname: string }>(
      `select datname from pg_database
       where not datistemplate and datname not in ('postgres', $1) and starts_with(datname, $2)`,
      [templateName, prefix],
    )
    // Each waits for a checkpoint, and several share one.
    const dropNext = (): Promise<void> =>
      withConnection(`${server}postgres`, async (session) => {
        for (let next = rows.pop(); next !== undefined; next = rows.pop())
          await session.query(`drop database ${pg.escapeIdentifier(next.datname)} with (force)`)
      })
    await Promise.all(Array.from({ length: Math.min(dropsAtOnce, rows.length) }, dropNext))
  })
}

function fingerprint(): string {
  const hash = createHash('sha256').update(rolesSql())
  const files = readdirSync(migrations)
    .filter((file) => file.endsWith('.js'))
    .sort()
  for (const file of files) hash.update(file).update(readFileSync(join(migrations, file)))
  return hash.digest('hex')
}
