import { existsSync, openSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { migrateToLatest } from '../../../../src/platform/database/migrations/migrate.js'
import { stopChild } from '../../../bootstrap/child-process.mjs'
import { Refusal } from '../../../bootstrap/progress.mjs'
import { freePort } from '../../../dev/ports.js'
import { postgresReady, startPostgres } from '../../../dev/postgres/postgres.js'
import { withConnection } from '../../../dev/postgres/session.js'
import { startProgram } from '../../../dev/supervise.js'
import { folderForServer, serverUser } from '../debian-postgres.js'
import { startRedis } from '../redis.js'
import type { Disturbance, Scenario } from '../scenario.js'

const program = '/usr/sbin/pgbouncer'
const stopMs = 5000
const longestMs = 3000
/** What connections set for themselves where no pooler is between (docs/deploy.md). */
const limits = { statement_timeout: '10s', lock_timeout: '4s', idle_in_transaction_session_timeout: '10s' }

/** The service behind PgBouncer in transaction mode. PgBouncer restarts, and PostgreSQL behind it. */
export const pgbouncer: Scenario = async ({ folder }) => {
  if (!existsSync(program)) throw new Refusal('PgBouncer is missing: install the Debian package pgbouncer')
  const options = { dataDir: folder, port: await freePort() }
  let postgres = await startPostgres(options)
  const redis = await startRedis(folder)
  const databaseUrl = postgres.url('postgres')
  await migrateToLatest(databaseUrl)
  await withConnection(databaseUrl, async (client) => {
    for (const [name, value] of Object.entries(limits))
      await client.query(`alter role postgres set ${name} = '${value}'`)
  })
  const pooler = await startPooler(folder, options.port)

  const restartPooler = (name: string, end: 'kill' | 'stop'): Disturbance => ({
    name,
    async act(_, draw) {
      await pooler[end]()
      await sleep(longestMs * draw.next())
      await pooler.start()
    },
  })
  const restartPostgres = (name: string, end: 'kill' | 'stop'): Disturbance => ({
    name,
    async act(_, draw) {
      await postgres[end]()
      await sleep(longestMs * draw.next())
      postgres = await startPostgres(options)
    },
  })
  return {
    servers: { databaseUrl, redisUrl: redis.url },
    serviceDatabaseUrl: pooler.url,
    env: () => ({ DB_PREPARED: 'false' }),
    disturbances: [
      restartPooler('PgBouncer killed', 'kill'),
      restartPooler('PgBouncer restarted', 'stop'),
      restartPostgres('PostgreSQL killed behind PgBouncer', 'kill'),
      restartPostgres('PostgreSQL restarted behind PgBouncer', 'stop'),
    ],
    async close() {
      await pooler.stop()
      await redis.stop()
      await postgres.stop()
    },
  }
}

async function startPooler(folder: string, postgresPort: number) {
  const place = folderForServer(folder, 'pgbouncer')
  const port = await freePort()
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  const file = `${place}/pgbouncer.ini`
  writeFileSync(
    file,
    `[databases]
postgres = host=127.0.0.1 port=${postgresPort} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
max_client_conn = 200
default_pool_size = 15
server_login_retry = 1
`,
    { mode: 0o644 },
  )
  const output = openSync(`${place}/pgbouncer.log`, 'a')
  let child: ReturnType<typeof startProgram>
  async function start(): Promise<void> {
    child = startProgram({
      command: program,
      args: ['-q', file],
      // Stops at once, as Debian's service does.
      signal: 'SIGTERM',
      cwd: '/',
      output,
      ...serverUser(),
    })
    await postgresReady(url, () => child.exitCode === null)
  }
  await start()
  return {
    url,
    start,
    stop: () => stopChild(child, stopMs),
    async kill() {
      if (child.pid === undefined) return
      const exited = new Promise((done) => child.once('exit', done))
      process.kill(-child.pid, 'SIGKILL')
      await exited
    },
  }
}
