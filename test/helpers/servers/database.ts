import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { withConnection } from '../../../scripts/dev/postgres/session.js'

/** A database for one test file, copied from the migrated template. The runner drops it at the end of the run. */
export interface TestDatabase {
  readonly name: string
  readonly url: string
}

/** What the test runner (scripts/test.ts) has started. */
interface TestServers {
  /** URL of the PostgreSQL server, ending in a slash. */
  readonly server: string
  readonly template: string
  /** Begins the name of each database. */
  readonly prefix: string
  readonly redisUrl: string
  /** A pooler in transaction mode, through which the service reaches the server (scripts/deploy/test-pgbouncer.sh). */
  readonly poolerUrl: string | undefined
}

/** Reads the runner's servers from the environment. Throws a clear message when a test file runs without the runner. */
export function testServers(env: NodeJS.ProcessEnv = process.env): TestServers {
  const server = env['TEST_DATABASE_URL']
  const template = env['TEST_TEMPLATE']
  const prefix = env['TEST_DATABASE_PREFIX']
  const redisUrl = env['TEST_REDIS_URL']
  if (!server || !template || !prefix || !redisUrl)
    throw new Error('No PostgreSQL and Redis for tests: run `npm test`, or `npm test -- <file>` for one file')
  return {
    server: server.replace(/\/*$/, '/'),
    template,
    prefix,
    redisUrl,
    poolerUrl: env['TEST_POOLER_URL'],
  }
}

/** `template`: `template0` makes an empty one. */
export async function createDatabase(template = testServers().template): Promise<TestDatabase> {
  const { server, prefix, poolerUrl } = testServers()
  const name = `${prefix}${randomBytes(6).toString('hex')}`
  // A copy of the files costs half of what a copy through the log does.
  await asAdmin((admin) =>
    admin.query(`create database ${name} template ${pg.escapeIdentifier(template)} strategy file_copy`),
  )
  return { name, url: poolerUrl === undefined ? `${server}${name}` : `${poolerUrl}${name}?pgbouncer=true` }
}

/**
 * A copy of a database as it is now, as a restored backup is one. Connections to it are ended, and pools open new ones.
 */
export async function copyDatabase(url: string): Promise<TestDatabase> {
  const name = new URL(url).pathname.slice(1)
  const source = pg.escapeIdentifier(name)
  await asAdmin(async (admin) => {
    await admin.query(`alter database ${source} with allow_connections false`)
    await admin.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name])
  })
  try {
    return await createDatabase(name)
  } finally {
    await asAdmin((admin) => admin.query(`alter database ${source} with allow_connections true`))
  }
}

/** Counts the client connections to the database. */
export async function countSessions({ name }: TestDatabase): Promise<number> {
  const { rows } = await asAdmin((admin) =>
    admin.query<{ sessions: number }>(
      `select count(*)::int as sessions from pg_stat_activity where datname = $1 and backend_type = 'client backend'`,
      [name],
    ),
  )
  return rows[0]?.sessions ?? 0
}

function asAdmin<Result>(work: (admin: pg.Client) => Promise<Result>): Promise<Result> {
  return withConnection(`${testServers().server}postgres`, work)
}
