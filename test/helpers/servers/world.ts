import { randomBytes } from 'node:crypto'
import type { TestFn } from 'ava'
import type { Knex } from 'knex'
import { patient } from '../../../scripts/kit/patient-pool.js'
import { redisUrlWith } from '../../../scripts/kit/service-settings.js'
import { startTcpProxy, type TcpProxy } from '../../../scripts/kit/tcp-proxy.js'
import type { FiatSandbox } from '../../../scripts/sandbox/fiat-sandbox.js'
import type { MailServer } from '../../../scripts/sandbox/mail/mail-server.js'
import type { Sandbox } from '../../../scripts/sandbox/server.js'
import type { Composed } from '../../../src/compose.js'
import type { Batch } from '../../../src/platform/worker/batch-loop.js'
import { createClient, type Request } from '../http/client.js'
import { type SandboxProxy, startSandboxProxy } from '../proxies/sandbox-proxy.js'
import { type SqlRecorder, startSqlRecorder } from '../proxies/sql-recorder.js'
import { createDatabase, type TestDatabase, testServers } from './database.js'
import { assertNothingOpen } from './leaks.js'
import { openPool } from './roles.js'
import { serveApp } from './serve-app.js'

export interface WorldOptions {
  /** Settings that differ from the test world's own. */
  readonly env?: Readonly<Record<string, string>>
  /** Also starts the local chain, the price feed and the swap engines: `world().sandbox`. */
  readonly chain?: boolean
  /** Milliseconds per slot of that chain. With 0 it stands still until a test advances it. */
  readonly slotMs?: number
  /** Also starts a mail server: `world().mail`, with its address in `world().env`. */
  readonly mail?: boolean
  /** Also starts the fiat provider and the exchange-rate feed: `world().fiat`. */
  readonly fiat?: boolean
  /** Puts proxies between the app and its servers: `world().proxies`. */
  readonly proxies?: boolean
}

/** Proxies with which a test observes the app's calls and holds or changes the answers. */
interface Proxies {
  readonly sql: SqlRecorder
  readonly redis: TcpProxy
  /** In front of the chain, the price feed and the swap engines. */
  readonly outside: SandboxProxy
}

/** The whole service for one test file: its own database and Redis namespace, the app on a free port. */
export interface World {
  readonly url: string
  /** Sends a request to the app. Every answer is checked against the app's OpenAPI document. */
  readonly request: Request
  /** As the owner of the tables, for what a test sets up and looks at. */
  readonly db: Knex
  /** Of the app: as the role `web`. `as` of roles.ts has those of the other processes. */
  readonly services: Composed
  /** The settings, for processes a test starts itself. */
  readonly env: Readonly<Record<string, string>>
  /** The local chain, whose slots advance quickly. Throws in a world opened without `chain: true`. */
  readonly sandbox: Sandbox
  /** The server that receives the mailer's mails. Throws in a world opened without `mail: true`. */
  readonly mail: MailServer
  /** The fiat provider, whose webhooks reach the app, and the rates. Throws in a world opened without `fiat: true`. */
  readonly fiat: FiatSandbox
  /** Throws in a world opened without `proxies: true`. */
  readonly proxies: Proxies
  /** The URL of one more database, copied from the template. */
  newDatabaseUrl(): Promise<string>
}

/** A public URL without a server. Tests reach the app by its address, as through a reverse proxy. */
export const publicUrl = 'http://tips.example'
/** The public URL of a local deployment in test mode, which also sends webhooks to this machine. */
export const localTest = { MODE: 'test', PUBLIC_URL: 'http://127.0.0.1' } as const
/** The sender of a world's mails. */
const mailFrom = 'Tips <support@tips.example>'
const nowhere = 'http://127.0.0.1:1'
/** The sandbox gives this wallet SOL and token accounts for fees. */
const treasuryWallet = 'DRpbCBMxVnDK7maPM5tGv6MvB3v1sRMC86PZ8okm21hy'
/** Half a real slot, and final after a quarter of the slots: that takes two seconds, and a blockhash lives for thirty. */
const quickSlotMs = 200
const quickFinalizeLag = 8

/**
 * Opens a world before the tests of a file and closes it after them. Fails the file when it leaves connections open.
 * Returns a function that gives the world inside tests.
 */
export function useWorld(test: TestFn, options: WorldOptions = {}): () => World {
  let opened: OpenWorld | undefined
  test.before('the world opens', async () => {
    opened = await openWorld(options)
  })
  test.after.always('the world closes and nothing is left open', async () => {
    await opened?.close()
  })
  return () => {
    if (opened === undefined) throw new Error('The world is open inside tests only')
    return opened
  }
}

/** Runs batches until nothing is due, as a worker does. Returns how many rows were taken. */
export async function runBatch(batch: Batch): Promise<number> {
  let total = 0
  for (let taken = -1; taken !== 0; total += taken) taken = (await batch()).taken
  return total
}

/** Writes values into rows, as the owner of the table. */
export async function setRows(
  { db }: Pick<World, 'db'>,
  table: string,
  where: object,
  values: object,
): Promise<void> {
  await db(table).where(where).update(values)
}

interface OpenWorld extends World {
  close(): Promise<void>
}

async function openWorld({
  env: changes = {},
  chain = false,
  slotMs = quickSlotMs,
  mail = false,
  fiat: withFiat = false,
  proxies: withProxies = false,
}: WorldOptions): Promise<OpenWorld> {
  const database = await createDatabase()
  const sandbox = chain ? await startChain(slotMs) : undefined
  const mailServer = mail ? await startMailServer() : undefined
  const fiat = withFiat ? await startFiat() : undefined
  const proxies = withProxies ? await startProxies(database, sandbox?.url ?? nowhere) : undefined
  const env = {
    ...settingsFor(database, sandbox?.url ?? nowhere),
    ...(mailServer && { SMTP_URL: mailServer.url, MAIL_FROM: mailFrom }),
    ...fiat?.env,
    ...(sandbox && { AGGREGATOR_REFERRAL_ACCOUNT: sandbox.aggregator.referralAccount }),
    ...(proxies && settingsThroughProxies(proxies)),
    ...changes,
  }
  const app = await serveApp(env)
  const { url, services } = app
  patient(services.db)
  const { DATABASE_URL: ownerUrl = '' } = env as Record<string, string>
  const db = openPool(ownerUrl, services.config.database.prepared)
  fiat?.fiatpay.webhooks.setUrl(`${url}/webhooks/fiatpay`)
  return {
    url,
    request: await createClient(url),
    db,
    services,
    env,
    get sandbox() {
      if (sandbox === undefined) throw new Error('This world was opened without `chain: true`')
      return sandbox
    },
    get mail() {
      if (mailServer === undefined) throw new Error('This world was opened without `mail: true`')
      return mailServer
    },
    get fiat() {
      if (fiat === undefined) throw new Error('This world was opened without `fiat: true`')
      return fiat
    },
    get proxies() {
      if (proxies === undefined) throw new Error('This world was opened without `proxies: true`')
      return proxies
    },
    async newDatabaseUrl() {
      const { url } = await createDatabase()
      return url
    },
    async close() {
      await app.close()
      await db.destroy()
      if (proxies !== undefined)
        await Promise.all([proxies.sql.close(), proxies.redis.close(), proxies.outside.close()])
      await sandbox?.close()
      await mailServer?.close()
      await fiat?.close()
      await assertNothingOpen(database)
    },
  }
}

// Only a world that needs a stand-in loads it: together they cost a file a fifth of its start.

async function startChain(slotMs: number): Promise<Sandbox> {
  const { startSandbox } = await import('../../../scripts/sandbox/server.js')
  const quick = slotMs === quickSlotMs ? { finalizeLag: quickFinalizeLag } : {}
  return startSandbox({ port: 0, slotMs, ...quick, treasury: treasuryWallet })
}

async function startMailServer(): Promise<MailServer> {
  const { MailServer } = await import('../../../scripts/sandbox/mail/mail-server.js')
  return MailServer.listen(0)
}

async function startFiat(): Promise<FiatSandbox> {
  const { startFiatSandbox } = await import('../../../scripts/sandbox/fiat-sandbox.js')
  return startFiatSandbox()
}

function settingsFor(database: TestDatabase, outside: string): Record<string, string> {
  return {
    PORT: '0',
    PUBLIC_URL: publicUrl,
    DATABASE_URL: database.url,
    REDIS_URL: redisUrlWith(testServers().redisUrl, { namespace: database.name }),
    SOLANA_RPC_URLS: outside,
    FIATPAY_URL: `${nowhere}/fiatpay`,
    FIATPAY_SECRET_KEY: 'sk_test_world',
    RATE_URL: `${nowhere}/rates/USD`,
    ...pricesAndSwaps(outside),
    TREASURY_WALLET: treasuryWallet,
    OTP_PEPPER: randomBytes(32).toString('base64'),
    WALLET_KEK: randomBytes(32).toString('base64'),
    GUARDS: 'contract',
    LOG_LEVEL: 'silent',
    RATE_LIMIT_FACTOR: '0',
    // No worker runs beside the app, so nothing would end the wait.
    WITHDRAW_WAIT_MS: '0',
  }
}

function pricesAndSwaps(outside: string): Record<string, string> {
  return {
    PRICE_URL: `${outside}/price/v3`,
    AGGREGATOR_ULTRA_URL: `${outside}/ultra/v1`,
    AGGREGATOR_V6_URL: `${outside}/swap/v1`,
  }
}

async function startProxies(database: TestDatabase, outside: string): Promise<Proxies> {
  return {
    sql: await startSqlRecorder(database.url),
    redis: await startTcpProxy(redisUrlWith(testServers().redisUrl, { namespace: database.name })),
    outside: await startSandboxProxy(outside),
  }
}

function settingsThroughProxies({ sql, redis, outside }: Proxies): Record<string, string> {
  return {
    DATABASE_URL: sql.url,
    REDIS_URL: redis.url,
    SOLANA_RPC_URLS: outside.url,
    ...pricesAndSwaps(outside.url),
  }
}
