import { randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { solMint } from '../../src/kernel/tokens.js'
import { migrateToLatest } from '../../src/platform/database/migrations/migrate.js'
import { printProgress } from '../bootstrap/progress.mjs'
import { freePort } from '../dev/ports.js'
import { postgresReady, preparePostgres } from '../dev/postgres/postgres.js'
import { withConnection } from '../dev/postgres/session.js'
import { respondsAt } from '../dev/probe.js'
import { ProcessGroup } from '../dev/process-group.js'
import { redisProgram, redisReady } from '../dev/redis.js'
import { withFileLimit } from './file-limit.js'
import { cpuOfDatabase } from './measurement.js'

/** The servers of a benchmark: one PostgreSQL with durable commits, one Redis, and the measured services. */
export interface Servers {
  readonly databaseUrl: string
  readonly redisUrl: string
  /** Runs a statement as the database's owner, for tables of the peers. */
  sql(text: string): Promise<void>
  /** CPU seconds used by PostgreSQL's processes. */
  databaseCpu(): Promise<number>
  /** Starts a server (a compiled script and its arguments) on a free port. Resolves with its URL. `files`: how many it may open. */
  serve(name: string, args: readonly string[], env: Record<string, string>, files?: number): Promise<string>
  close(): Promise<void>
}

const listenMs = 20_000
/** An address without a server. */
const nowhere = 'http://127.0.0.1:9'
/** One for all processes of a benchmark: data are sealed with it. */
const pepper = randomBytes(32).toString('base64')

/** The settings of a service that reaches only PostgreSQL and Redis. It logs only warnings, because its peers log nothing. */
export function serviceSettings({
  databaseUrl,
  redisUrl,
}: Pick<Servers, 'databaseUrl' | 'redisUrl'>): Record<string, string> {
  return {
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    SOLANA_RPC_URLS: nowhere,
    PRICE_URL: `${nowhere}/price/v3`,
    FIATPAY_URL: nowhere,
    FIATPAY_SECRET_KEY: 'sk_test_bench',
    RATE_URL: nowhere,
    TREASURY_WALLET: solMint,
    OTP_PEPPER: pepper,
    GUARDS: 'contract',
    CONFIRM_ACCOUNTS: 'new',
    LOG_LEVEL: 'warn',
    RATE_LIMIT_FACTOR: '0',
  }
}

/**
 * Starts PostgreSQL and Redis for one benchmark, with an empty, migrated database. `dataDir`: the folder of their files. `flags`:
 * further settings of PostgreSQL.
 */
export async function startServers(dataDir = '.data/bench', flags: readonly string[] = []): Promise<Servers> {
  mkdirSync(dataDir, { recursive: true })
  const processes = new ProcessGroup(printProgress)
  const redisPort = await freePort()
  // Without flags PostgreSQL's default durability settings: every commit waits for the disk.
  const postgres = await preparePostgres({ dataDir, port: await freePort(), flags })
  processes.start('database', 'postgres', postgres.program)
  processes.start('support', 'redis', redisProgram(redisPort, dataDir))
  await Promise.all([
    postgresReady(postgres.url('postgres'), () => processes.mayStillStart),
    redisReady(redisPort, () => processes.mayStillStart),
  ])
  await runStatements(
    postgres.url('postgres'),
    'drop database if exists bench with (force)',
    'create database bench',
  )
  const databaseUrl = postgres.url('bench')
  await migrateToLatest(databaseUrl)
  return {
    databaseUrl,
    redisUrl: `redis://127.0.0.1:${redisPort}`,
    sql: (text) => runStatements(databaseUrl, text),
    databaseCpu: () => cpuOfDatabase(databaseUrl),
    async serve(name, args, env, files) {
      const port = await freePort()
      const program =
        files === undefined ? { command: process.execPath, args: [...args] } : withFileLimit(files, args)
      processes.start('service', name, {
        ...program,
        signal: 'SIGTERM',
        env: { ...process.env, DATABASE_URL: databaseUrl, ...env, PORT: String(port) },
      })
      const url = `http://127.0.0.1:${port}`
      if (!(await respondsAt(`${url}/health`, listenMs, () => processes.mayStillStart)))
        throw new Error(`${name} does not answer`)
      return url
    },
    async close() {
      await processes.stop()
      postgres.release()
    },
  }
}

async function runStatements(url: string, ...statements: string[]): Promise<void> {
  await withConnection(url, async (client) => {
    for (const statement of statements) await client.query(statement)
  })
}
