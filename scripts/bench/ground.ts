import { randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { solMint } from '../../src/kernel/tokens.js'
import { migrateToLatest } from '../../src/platform/database/migrate.js'
import { say } from '../bootstrap/progress.mjs'
import { Fleet } from '../dev/fleet.js'
import { freePort } from '../dev/ports.js'
import { postgresReady, preparePostgres } from '../dev/postgres/postgres.js'
import { inDatabase } from '../dev/postgres/session.js'
import { respondsAt } from '../dev/probe.js'
import { redisProgram, redisReady } from '../dev/redis.js'
import { cpuOfDatabase } from './cpu.js'

/** What all benchmarked servers stand on: one PostgreSQL with durable commits, one Redis. */
export interface Ground {
  readonly databaseUrl: string
  readonly redisUrl: string
  /** Runs a statement as the server's owner, for tables of the peers. */
  sql(text: string): Promise<void>
  /** CPU seconds that PostgreSQL's processes have used. */
  databaseCpu(): Promise<number>
  /** Starts a server (a compiled script and its arguments) on a free port. Resolves with its URL. */
  serve(name: string, args: readonly string[], env: Record<string, string>): Promise<string>
  close(): Promise<void>
}

const listenMs = 20_000
/** Nobody listens here. */
const nowhere = 'http://127.0.0.1:9'

/** The settings of a service that reaches its ground and nothing else; it logs warnings alone, as its peers log nothing. */
export function serviceSettings({
  databaseUrl,
  redisUrl,
}: Pick<Ground, 'databaseUrl' | 'redisUrl'>): Record<string, string> {
  return {
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    SOLANA_RPC_URLS: nowhere,
    PRICE_URL: `${nowhere}/price/v3`,
    FIATPAY_URL: nowhere,
    FIATPAY_SECRET_KEY: 'sk_test_bench',
    RATE_URL: nowhere,
    TREASURY_WALLET: solMint,
    OTP_PEPPER: randomBytes(32).toString('base64'),
    LOG_LEVEL: 'warn',
    RATE_LIMIT_FACTOR: '0',
  }
}

/** Starts the ground for one benchmark with an empty, migrated database. `dataDir`: where its files are. */
export async function openGround(dataDir = '.data/bench'): Promise<Ground> {
  mkdirSync(dataDir, { recursive: true })
  const fleet = new Fleet(say)
  const redisPort = await freePort()
  // Its own durability settings are PostgreSQL's defaults: every commit waits for the disk.
  const postgres = await preparePostgres({ dataDir, port: await freePort() })
  fleet.start('database', 'postgres', postgres.program)
  fleet.start('support', 'redis', redisProgram(redisPort, dataDir))
  await Promise.all([
    postgresReady(postgres.url('postgres'), () => fleet.hopeful),
    redisReady(redisPort, () => fleet.hopeful),
  ])
  await run(postgres.url('postgres'), 'drop database if exists bench with (force)', 'create database bench')
  const databaseUrl = postgres.url('bench')
  await migrateToLatest(databaseUrl)
  return {
    databaseUrl,
    redisUrl: `redis://127.0.0.1:${redisPort}`,
    sql: (text) => run(databaseUrl, text),
    databaseCpu: () => cpuOfDatabase(databaseUrl),
    async serve(name, args, env) {
      const port = await freePort()
      fleet.start('service', name, {
        command: process.execPath,
        args: [...args],
        signal: 'SIGTERM',
        env: { ...process.env, DATABASE_URL: databaseUrl, ...env, PORT: String(port) },
      })
      const url = `http://127.0.0.1:${port}`
      if (!(await respondsAt(`${url}/health`, listenMs, () => fleet.hopeful)))
        throw new Error(`${name} does not answer`)
      return url
    },
    async close() {
      await fleet.stop()
      postgres.release()
    },
  }
}

async function run(url: string, ...statements: string[]): Promise<void> {
  await inDatabase(url, async (client) => {
    for (const statement of statements) await client.query(statement)
  })
}
