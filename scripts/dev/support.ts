import { migrateToLatest } from '../../src/platform/database/migrate.js'
import type { Fleet } from './fleet.js'
import { postgresReady, preparePostgres } from './postgres/postgres.js'
import { inDatabase } from './postgres/session.js'
import { genesisHash, referralAccount, respondsAt } from './probe.js'
import type { Agreed, ChainFacts } from './process-settings.js'
import { redisProgram, redisReady } from './redis.js'
import { needsStandIns, type StackSettings, standInsUrl } from './settings.js'

const sandboxMs = 30_000
const database = 'tipping'

/** What the parts of a stack are started with. */
export interface StackContext {
  readonly settings: StackSettings
  readonly fleet: Fleet
  readonly say: (text: string) => void
}

/** The database, of our own unless DATABASE_URL names one, with the newest schema. Returns its URL. */
export async function startDatabase({ settings, fleet, say }: StackContext): Promise<string> {
  const url = settings.DATABASE_URL ?? (await ownDatabase(settings, fleet))
  const { length } = await migrateToLatest(url)
  say(length === 0 ? 'database ready, schema up to date' : `database ready, ${length} migrations applied`)
  return url
}

async function ownDatabase({ DATA_DIR, PG_PORT }: StackSettings, fleet: Fleet): Promise<string> {
  const postgres = await preparePostgres({ dataDir: DATA_DIR, port: PG_PORT })
  process.once('exit', postgres.release)
  fleet.start('database', 'postgres', postgres.program)
  const admin = postgres.url('postgres')
  await postgresReady(admin, () => fleet.hopeful)
  await inDatabase(admin, async (client) => {
    const found = await client.query('select 1 from pg_database where datname = $1', [database])
    if (found.rowCount === 0) await client.query(`create database ${database}`)
  })
  return postgres.url(database)
}

/** A Redis of our own unless REDIS_URL names one. Returns its URL. */
export async function startRedis({ settings, fleet, say }: StackContext): Promise<string> {
  if (settings.REDIS_URL !== undefined) return settings.REDIS_URL
  fleet.start('support', 'redis', redisProgram(settings.REDIS_PORT, settings.DATA_DIR))
  await redisReady(settings.REDIS_PORT, () => fleet.hopeful)
  say('redis ready')
  return `redis://127.0.0.1:${settings.REDIS_PORT}`
}

/** The stand-ins, unless the settings leave nothing to them. Returns what the chain in use tells of itself. */
export async function startOutside(context: StackContext, agreed: Agreed): Promise<ChainFacts> {
  const { settings } = context
  const url = standInsUrl(settings)
  if (needsStandIns(settings)) await startStandIns(context, url, agreed)
  if (settings.SOLANA_RPC_URLS === undefined)
    return { genesisHash: await genesisHash(url), referralAccount: await referralAccount(url) }
  const [first = ''] = settings.SOLANA_RPC_URLS.split(',')
  return {
    genesisHash: settings.SOLANA_GENESIS_HASH ?? (await genesisHash(first.trim())),
    referralAccount: '',
  }
}

async function startStandIns(
  { settings, fleet, say }: StackContext,
  url: string,
  { treasuryWallet, fiatpayKey, publicUrl }: Agreed,
): Promise<void> {
  const own = {
    SANDBOX_PORT: String(settings.SANDBOX_PORT),
    SMTP_PORT: String(settings.SMTP_PORT),
    DATA_DIR: settings.DATA_DIR,
    TREASURY_WALLET: treasuryWallet,
    FIATPAY_SECRET_KEY: fiatpayKey,
    PUBLIC_URL: publicUrl,
  }
  fleet.start('support', 'sandbox', {
    command: process.execPath,
    args: ['dist/scripts/sandbox/main.js'],
    signal: 'SIGTERM',
    env: { ...process.env, ...own },
  })
  if (!(await respondsAt(`${url}/health`, sandboxMs, () => fleet.hopeful)))
    throw new Error(`the stand-ins do not answer on ${url}, see above`)
  say('stand-ins ready')
}
