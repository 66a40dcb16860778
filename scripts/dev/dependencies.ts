import { withoutOtherSecrets } from '../../src/platform/config/process-secrets.js'
import { migrateToLatest } from '../../src/platform/database/migrations/migrate.js'
import { createRoles } from '../database/create-roles.js'
import { supervisePostgres } from './postgres/postgres.js'
import { withConnection } from './postgres/session.js'
import { genesisHash, referralAccount, respondsAt } from './probe.js'
import type { ProcessGroup } from './process-group.js'
import type { ChainFacts, SharedSettings } from './process-settings.js'
import { superviseRedis } from './redis.js'
import { needsStandIns, type StackSettings, standInsUrl } from './settings.js'

const sandboxMs = 90_000
const database = 'tipping'

/** Passed to every function that starts a part of the stack. */
export interface StackContext {
  readonly settings: StackSettings
  readonly processes: ProcessGroup
  readonly print: (text: string) => void
  /** The environment to which the stack adds its settings. */
  readonly env: NodeJS.ProcessEnv
  /** Each process connects with its own role. By default only to a PostgreSQL that the stack itself has started. */
  readonly roles?: boolean
}

/** Starts PostgreSQL, unless DATABASE_URL names one, and applies the migrations. Returns its URL. */
export async function startDatabase(context: StackContext): Promise<string> {
  const { settings, processes, print } = context
  const url = settings.DATABASE_URL ?? (await ownDatabase(settings, processes))
  const { applied } = await migrateToLatest(url)
  if (hasRoles(context)) await createRoles(url)
  print(
    applied.length === 0
      ? 'PostgreSQL is ready; the schema is up to date'
      : `PostgreSQL is ready; applied ${applied.length} migrations`,
  )
  return url
}

/** Whether each process has its own database role. */
export const hasRoles = ({ settings, roles }: StackContext): boolean =>
  roles ?? settings.DATABASE_URL === undefined

async function ownDatabase({ DATA_DIR, PG_PORT }: StackSettings, processes: ProcessGroup): Promise<string> {
  const url = await supervisePostgres(processes, { dataDir: DATA_DIR, port: PG_PORT })
  await withConnection(url('postgres'), async (client) => {
    const found = await client.query('select 1 from pg_database where datname = $1', [database])
    if (found.rowCount === 0) await client.query(`create database ${database}`)
  })
  return url(database)
}

/** Starts Redis, unless REDIS_URL names one. Returns its URL. */
export async function startRedis({ settings, processes, print }: StackContext): Promise<string> {
  if (settings.REDIS_URL !== undefined) return settings.REDIS_URL
  const url = await superviseRedis(processes, settings.REDIS_PORT, settings.DATA_DIR)
  print('Redis is ready')
  return url
}

/** Starts the stand-ins, unless the settings name a real service for each. Returns facts about the chain in use. */
export async function startProviders(context: StackContext, agreed: SharedSettings): Promise<ChainFacts> {
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
  { settings, processes, print, env }: StackContext,
  url: string,
  { treasuryWallet, fiatpayKey, payoutKey, publicUrl }: SharedSettings,
): Promise<void> {
  const own = {
    SANDBOX_PORT: String(settings.SANDBOX_PORT),
    SMTP_PORT: String(settings.SMTP_PORT),
    DATA_DIR: settings.DATA_DIR,
    TREASURY_WALLET: treasuryWallet,
    FIATPAY_SECRET_KEY: fiatpayKey,
    PAYOUT_SECRET_KEY: payoutKey,
    PUBLIC_URL: publicUrl,
  }
  processes.start('support', 'sandbox', {
    command: process.execPath,
    args: ['dist/scripts/sandbox/main.js'],
    signal: 'SIGTERM',
    env: { ...withoutOtherSecrets(env, []), ...own },
  })
  if (!(await respondsAt(`${url}/health`, sandboxMs, () => processes.mayStillStart)))
    throw new Error(`the stand-ins do not answer at ${url}; their messages are above`)
  print('the stand-ins (chain, swap engines, prices, fiat provider, mail) are ready')
}
