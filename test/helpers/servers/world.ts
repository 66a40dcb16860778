import { randomBytes } from 'node:crypto'
import type { TestFn } from 'ava'
import type { Knex } from 'knex'
import { type Fiat, startFiat } from '../../../scripts/sandbox/fiat.js'
import { MailServer } from '../../../scripts/sandbox/mail/mail.js'
import { type Sandbox, startSandbox } from '../../../scripts/sandbox/server.js'
import type { Composed } from '../../../src/compose.js'
import type { Batch } from '../../../src/platform/worker/batch-loop.js'
import { createClient, type Request } from '../http/client.js'
import { layWire, type Wire } from '../http/wire.js'
import { refuseLeaks } from '../leaks.js'
import { countSql, type SqlCounter } from '../sql-counter.js'
import { createDatabase, dropDatabase, type TestDatabase, testServers } from './database.js'
import { type OutsideProxy, startOutsideProxy } from './outside-proxy.js'
import { serveApp } from './serve-app.js'

export interface WorldOptions {
  /** Settings that differ from the test world's own. */
  readonly env?: Readonly<Record<string, string>>
  /** Starts the local chain, the price feed and the swap engines beside the app; `world().sandbox` is then there. */
  readonly chain?: boolean
  /** Milliseconds per slot of that chain; 0: it stands still until a test advances it. */
  readonly slotMs?: number
  /** Starts a mail server beside the app; `world().mail` is then there, and its address in `world().env`. */
  readonly mail?: boolean
  /** Starts the fiat provider and the exchange rates beside the app; `world().fiat` is then there. */
  readonly fiat?: boolean
  /** Puts taps between the app and everything outside it; `world().taps` are then there. */
  readonly taps?: boolean
}

/** Where a test listens to what the app asks of others, and keeps the answers back. */
interface Taps {
  readonly sql: SqlCounter
  readonly redis: Wire
  /** Before the chain, the price feed and the swap engines. */
  readonly outside: OutsideProxy
}

/** The whole service for one test file: its own database and Redis namespace, the app on a free port. */
export interface World {
  readonly url: string
  /** Asks the app; every answer is checked against its OpenAPI document. */
  readonly request: Request
  readonly db: Knex
  readonly services: Composed
  /** The settings, for processes a test starts itself. */
  readonly env: Readonly<Record<string, string>>
  /** The local chain, whose slots advance quickly. Throws in a world opened without `chain: true`. */
  readonly sandbox: Sandbox
  /** What the mailer's mails arrive at. Throws in a world opened without `mail: true`. */
  readonly mail: MailServer
  /** The fiat provider, whose webhooks reach the app, and the rates. Throws in a world opened without `fiat: true`. */
  readonly fiat: Fiat
  /** Throws in a world opened without `taps: true`. */
  readonly taps: Taps
  /** The URL of one more database, copied from the template and dropped with the world. */
  newDatabaseUrl(): Promise<string>
}

/** A public URL nobody listens on: tests reach the app by address, as through a proxy. */
export const publicUrl = 'http://tips.example'
/** The sender of a world's mails. */
const mailFrom = 'Tips <support@tips.example>'
const nowhere = 'http://127.0.0.1:1'
/** Where the sandbox plants SOL and token accounts for fees. */
const treasuryWallet = 'DRpbCBMxVnDK7maPM5tGv6MvB3v1sRMC86PZ8okm21hy'
/** A twentieth of a real slot, so that finality comes within a second. */
const quickSlotMs = 20

/**
 * Gives a test file its world, made before its tests and taken down after them; a file that leaves connections
 * open fails. Returns how to reach the world from inside a test.
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

/** Drains until nothing is due, as a worker would. Returns how many rows were taken. */
export async function runBatch(batch: Batch): Promise<number> {
  let total = 0
  for (let taken = -1; taken !== 0; total += taken) taken = (await batch()).taken
  return total
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
  taps: tapped = false,
}: WorldOptions): Promise<OpenWorld> {
  const database = await createDatabase()
  const further: TestDatabase[] = []
  const sandbox = chain ? await startSandbox({ port: 0, slotMs, treasury: treasuryWallet }) : undefined
  const mailServer = mail ? await MailServer.listen(0, '127.0.0.1') : undefined
  const fiat = withFiat ? await startFiat() : undefined
  const taps = tapped ? await openTaps(database, sandbox?.url ?? nowhere) : undefined
  const env = {
    ...settingsFor(database, sandbox?.url ?? nowhere),
    ...(mailServer && { SMTP_URL: mailServer.url, MAIL_FROM: mailFrom }),
    ...fiat?.env,
    ...(sandbox && { AGGREGATOR_REFERRAL_ACCOUNT: sandbox.aggregator.referralAccount }),
    ...(taps && settingsThrough(taps)),
    ...changes,
  }
  const app = await serveApp(env)
  const { url, services } = app
  fiat?.fiatpay.webhooks.sendTo(`${url}/webhooks/fiatpay`)
  return {
    url,
    request: await createClient(url),
    db: services.db,
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
    get taps() {
      if (taps === undefined) throw new Error('This world was opened without `taps: true`')
      return taps
    },
    async newDatabaseUrl() {
      const one = await createDatabase()
      further.push(one)
      return one.url
    },
    async close() {
      await app.close()
      if (taps !== undefined) await Promise.all([taps.sql.close(), taps.redis.close(), taps.outside.close()])
      await sandbox?.close()
      await mailServer?.close()
      await fiat?.close()
      try {
        await refuseLeaks(database)
      } finally {
        await Promise.all([database, ...further].map(dropDatabase))
      }
    },
  }
}

function settingsFor(database: TestDatabase, outside: string): Record<string, string> {
  return {
    PORT: '0',
    PUBLIC_URL: publicUrl,
    DATABASE_URL: database.url,
    REDIS_URL: testServers().redisUrl,
    REDIS_NAMESPACE: database.name,
    SOLANA_RPC_URLS: outside,
    FIATPAY_URL: `${nowhere}/fiatpay`,
    FIATPAY_SECRET_KEY: 'sk_test_world',
    RATE_URL: `${nowhere}/rates/USD`,
    ...pricesAndSwaps(outside),
    TREASURY_WALLET: treasuryWallet,
    OTP_PEPPER: randomBytes(32).toString('base64'),
    WALLET_KEK: randomBytes(32).toString('base64'),
    LOG_LEVEL: 'silent',
    RATE_LIMIT_FACTOR: '0',
  }
}

function pricesAndSwaps(outside: string): Record<string, string> {
  return {
    PRICE_URL: `${outside}/price/v3`,
    AGGREGATOR_ULTRA_URL: `${outside}/ultra/v1`,
    AGGREGATOR_V6_URL: `${outside}/swap/v1`,
  }
}

async function openTaps(database: TestDatabase, outside: string): Promise<Taps> {
  return {
    sql: await countSql(database.url),
    redis: await layWire(testServers().redisUrl),
    outside: await startOutsideProxy(outside),
  }
}

function settingsThrough({ sql, redis, outside }: Taps): Record<string, string> {
  return {
    DATABASE_URL: sql.url,
    REDIS_URL: redis.url,
    SOLANA_RPC_URLS: outside.url,
    ...pricesAndSwaps(outside.url),
  }
}
