import { mkdirSync } from 'node:fs'
import { migrateToLatest } from '../../src/platform/database/migrations/migrate.js'
import { stopChild } from '../bootstrap/child-process.mjs'
import { freePort } from '../dev/ports.js'
import { startPostgres } from '../dev/postgres/postgres.js'
import { withConnection } from '../dev/postgres/session.js'
import { redisProgram, redisReady } from '../dev/redis.js'
import { startProgram } from '../dev/supervise.js'
import type { Defer } from './closing.js'

/** Where a service finds its database and Redis. */
export interface ServerUrls {
  readonly databaseUrl: string
  readonly redisUrl: string
  readonly namespace: string
}

/** A PostgreSQL with an empty, migrated database, and a Redis. */
export interface Servers {
  readonly databaseUrl: string
  readonly redisUrl: string
  /** Of any database of the server. */
  url(database: string): string
  /** Runs a statement as the owner of the database. */
  sql(text: string): Promise<void>
  /** Ends PostgreSQL like a crash. */
  kill(): Promise<void>
  /** Starts it again. */
  start(): Promise<void>
}

const database = 'service'
const stopMs = 5000
/** Where nothing is killed but processes of the service, no commit needs to wait for the disk. */
export const quickCommits = ['-c', 'synchronous_commit=off']

/** Starts both in a folder. `flags`: further settings of PostgreSQL. */
export async function startServers(
  dataDir: string,
  defer: Defer,
  flags: readonly string[] = [],
): Promise<Servers> {
  mkdirSync(dataDir, { recursive: true })
  const options = { dataDir, port: await freePort(), flags }
  let postgres = await startPostgres(options)
  defer(() => postgres.stop())
  const redisUrl = await startRedis(dataDir, defer)
  const { url } = postgres
  await runStatements(url('postgres'), [
    `drop database if exists ${database} with (force)`,
    `create database ${database}`,
  ])
  await migrateToLatest(url(database))
  return {
    databaseUrl: url(database),
    redisUrl,
    url,
    sql: (text) => runStatements(url(database), [text]),
    kill: () => postgres.kill(),
    async start() {
      postgres = await startPostgres(options)
    },
  }
}

/** A Redis of this run. Returns its URL. */
export async function startRedis(dataDir: string, defer: Defer): Promise<string> {
  const port = await freePort()
  const child = startProgram(redisProgram(port, dataDir))
  defer(() => stopChild(child, stopMs))
  await redisReady(port, () => child.exitCode === null)
  return `redis://127.0.0.1:${port}`
}

async function runStatements(url: string, statements: readonly string[]): Promise<void> {
  await withConnection(url, async (client) => {
    for (const statement of statements) await client.query(statement)
  })
}
