import type { Knex } from 'knex'
import { paidPath } from './http/pages/paid-page.js'
import { type Config, refuseUse } from './platform/config/config.js'
import { loadMail, loadWalletKeys } from './platform/config/own-settings.js'
import type { Secret } from './platform/config/process-secrets.js'
import { watchPool } from './platform/database/connections/pool-watch.js'
import { createDb, createHotPool } from './platform/database/database.js'
import { createReadPool, readsOf } from './platform/database/read-pool.js'
import { createSwitchWatch, type SwitchWatch } from './platform/database/switches/switch-watch.js'
import { createTransact, type Transact } from './platform/database/transact.js'
import { createLog } from './platform/log.js'
import { createMetrics } from './platform/monitoring/metrics.js'
import { createWaker, queuePrefix } from './platform/queue/wake-ups.js'
import { createRateLimits } from './platform/rate-limits/rate-limits.js'
import { createReadiness, type Readiness } from './platform/readiness.js'
import { createProducerClient } from './platform/redis/clients.js'
import { createNotifications, createPublisher } from './platform/redis/notifications.js'
import { createTracing } from './platform/tracing/tracing.js'
import type { Chain } from './ports/chain.js'
import type { Collections } from './ports/collections.js'
import type { CustodyChain } from './ports/custody-chain.js'
import type { Disputes } from './ports/disputes.js'
import type { ExchangeRateFeed } from './ports/exchange-rates.js'
import type { Mail } from './ports/mail.js'
import type { Names } from './ports/names.js'
import type { PayoutSender } from './ports/payout-sender.js'
import type { Payouts } from './ports/payouts.js'
import type { Refunds } from './ports/refunds.js'
import type { SwapEngine } from './ports/swaps.js'
import type { Vault } from './ports/vault.js'
import { createAggregatorUltra } from './providers/aggregator-ultra/aggregator-ultra.js'
import { createAggregatorV6 } from './providers/aggregator-v6/aggregator-v6.js'
import { createFiatpayCollections } from './providers/fiatpay/collections.js'
import { createFiatpayDisputes } from './providers/fiatpay/disputes.js'
import { createFiatpayPayoutSender } from './providers/fiatpay/payout-sender.js'
import { createFiatpayPayouts } from './providers/fiatpay/payouts.js'
import { createFiatpayRefunds } from './providers/fiatpay/refunds.js'
import { createPriceV3 } from './providers/price-feed/price-v3.js'
import { createSmtp } from './providers/smtp/smtp.js'
import { createSnsNames } from './providers/sns/sns.js'
import { createCustodyChain } from './providers/solana/custody-chain.js'
import { createSolanaChain } from './providers/solana/solana-chain.js'
import { createTestControls } from './providers/stand-ins/test-controls.js'
import { createUsdRates } from './providers/usd-rates/usd-rates.js'
import { createConfiguredVault } from './providers/vault/configured-vault.js'
import type { Services } from './services.js'

export interface Composed extends Services {
  readonly switches: SwitchWatch
  /** The most connections to PostgreSQL that this process opens. */
  readonly mostConnections: number
  ready(): Promise<Readiness>
  /** Releases every connection. */
  close(): Promise<void>
  /** `transact` on another pool, for tests that give each part of the service its own database role. */
  transactOn(db: Knex): Transact
}

/** Builds the services of one process from its settings. The only file that imports adapters of vendors. */
export function compose(config: Config, processName: string): Composed {
  const log = createLog(config.logLevel, processName)
  const metrics = createMetrics()
  const tracing =
    config.tracesUrl === undefined ? undefined : createTracing(config.tracesUrl, processName, log)
  const { url: databaseUrl, pool, recordPool: recordConnections, prepared, standby } = config.database
  const db = createDb(databaseUrl, pool, undefined, prepared)
  const recordPool = createHotPool(databaseUrl, recordConnections, prepared)
  // Of its own: when every connection of the pool is in use, the process is still ready and sees what is switched off.
  const probe = createDb(databaseUrl, 1, undefined, prepared)
  const poolWatch = watchPool(db, pool)
  const onRead = (by: string): void => metrics.reads.inc({ standby: by })
  const readPool = standby && createReadPool({ primary: db, probe, standby, pool, onRead, log })
  const redis = createProducerClient(config.redis, (reason) => {
    if (reason === undefined) log.info('Redis is available again')
    else log.warn({ reason }, 'Redis is unavailable: the process works without it, and slower')
  })
  const notifications = createNotifications(config.redis, config.redis.namespace)
  const switches = createSwitchWatch(
    probe,
    (name, stopped) => metrics.stopped.set({ switch: name }, stopped ? 1 : 0),
    (restored) => metrics.restored.set(restored ? 1 : 0),
  )
  const waker = createWaker(redis, config.redis.namespace)
  const publish = createPublisher(redis, config.redis.namespace)
  const transactOn = (pool: Knex): Transact =>
    createTransact(pool, {
      wake: waker.wake,
      removeJobs: waker.removeJobs,
      publish,
      log(fields, text, startedMs) {
        log.info(fields, text)
        tracing?.recordStep(fields, text, startedMs)
      },
    })
  const onCall = (method: string, calls: number): void => metrics.rpcCalls.inc({ method }, calls)
  const onFailure = (endpoint: string): void => metrics.rpcFailures.inc({ endpoint })
  const { rpcUrls: urls, genesisHash } = config.chain
  const rpc = urls && { urls, genesisHash, onCall, onFailure }
  const chain = withSecret<Chain>('SOLANA_RPC_URLS', rpc && createSolanaChain(rpc))
  const { url, secretKey, webhookKeys, payoutKey, deduplicates } = config.fiatpay
  const queryKey = secretKey ?? payoutKey
  const { timeoutMs } = config.payouts
  const { url: rateUrl, secondUrl } = config.rates
  return {
    config,
    log,
    metrics,
    tracing,
    db,
    recordPool,
    poolQueue: poolWatch,
    notifications,
    limits: createRateLimits(config, redis),
    switches,
    transact: transactOn(db),
    transactOn,
    reads: readPool?.reads ?? readsOf(db),
    wake: waker.wake,
    chain,
    custodyChain: withSecret<CustodyChain>('SOLANA_RPC_URLS', rpc && createCustodyChain(rpc)),
    names: withSecret<Names>('SOLANA_RPC_URLS', rpc && createSnsNames(rpc)),
    prices: createPriceV3(config.prices),
    collections: withSecret<Collections>(
      'FIATPAY_SECRET_KEY',
      secretKey &&
        createFiatpayCollections({
          url,
          secretKey,
          webhookKeys,
          returnUrl: `${config.http.publicUrl}${paidPath}`,
        }),
    ),
    disputes: withSecret<Disputes>('FIATPAY_SECRET_KEY', secretKey && composeDisputes(config)),
    payouts: withSecret<Payouts>(
      'FIATPAY_SECRET_KEY',
      queryKey && createFiatpayPayouts({ url, secretKey: queryKey, deduplicates, timeoutMs }),
    ),
    exchangeRates: withSecret<ExchangeRateFeed>('RATE_URL', rateUrl && createUsdRates({ url: rateUrl })),
    secondExchangeRates: secondUrl === undefined ? undefined : createUsdRates({ url: secondUrl }),
    swaps: composeSwaps(config.swaps, chain),
    testControls: config.mode === 'test' ? createTestControls(url) : undefined,
    mostConnections: mostConnections(config.database, processName),
    ready: createReadiness({
      database: () => probe.raw('select 1'),
      // Of a cluster the node that has the queues is asked.
      redis: () => redis.exists(`${queuePrefix(config.redis.namespace)}:ready`),
    }),
    async close() {
      poolWatch.stop()
      await Promise.all([switches.stop(), waker.close()])
      notifications.close()
      redis.disconnect()
      await readPool?.close()
      await Promise.all([recordPool.end(), db.destroy(), probe.destroy(), tracing?.close()])
    },
  }
}

/** Only web processes record tips; every process has a connection for its readiness. */
export function mostConnections(
  { pool, recordPool }: Pick<Config['database'], 'pool' | 'recordPool'>,
  processName: string,
): number {
  return pool + (processName === 'web' ? recordPool : 0) + 1
}

/** A port, or what stands for it in a process without its secret: every use throws an error that names the secret. */
function withSecret<Port extends object>(secret: Secret, port: Port | '' | undefined): Port {
  return port || new Proxy({} as Port, { get: () => refuseUse(secret) })
}

/** The swap engines that have settings, in order of preference. */
function composeSwaps(
  { ultraUrl, v6Url, apiKey, referralAccount }: Config['swaps'],
  chain: Chain,
): SwapEngine[] {
  const ultra = ultraUrl && createAggregatorUltra({ url: ultraUrl, apiKey, referralAccount }, chain)
  const v6 = v6Url && createAggregatorV6({ url: v6Url, apiKey }, chain)
  return [ultra, v6].filter((engine) => typeof engine === 'object')
}

/** The vault of the custody wallets. Not part of Services, so that only the provisioner and the custodian hold the key. */
export function composeVault(): Vault {
  return createConfiguredVault(loadWalletKeys())
}

/** The mail server. Not part of Services, so that only the mailer holds its password. */
export function composeMail(): Mail {
  return createSmtp(loadMail())
}

/** The sender of payouts. Not part of Services, so that only the payouts worker can send money. */
export function composePayoutSender(config: Pick<Config, 'fiatpay' | 'payouts'>): PayoutSender {
  return createFiatpayPayoutSender(payingAccess(config))
}

/** Refunds of naira payments. Not part of Services, so that only the payouts worker and the operators' command can refund. */
export function composeRefunds(config: Pick<Config, 'fiatpay' | 'payouts'>): Refunds {
  return createFiatpayRefunds(payingAccess(config))
}

/** Reads refunds. Cannot request one. */
export function composeRefundReader(
  config: Pick<Config, 'fiatpay' | 'payouts'>,
): Pick<Refunds, 'list' | 'listAll'> {
  return createFiatpayRefunds(collectingAccess(config))
}

/** Disputes about naira payments. Services has only the part that reads, so that only the operators' command can answer one. */
export function composeDisputes(config: Pick<Config, 'fiatpay' | 'payouts'>): Disputes {
  return createFiatpayDisputes(collectingAccess(config))
}

function collectingAccess({ fiatpay, payouts }: Pick<Config, 'fiatpay' | 'payouts'>) {
  const secretKey = fiatpay.secretKey ?? refuseUse('FIATPAY_SECRET_KEY')
  return { url: fiatpay.url, secretKey, timeoutMs: payouts.timeoutMs }
}

function payingAccess({ fiatpay, payouts }: Pick<Config, 'fiatpay' | 'payouts'>) {
  const secretKey = fiatpay.payoutKey ?? refuseUse('PAYOUT_SECRET_KEY')
  return { url: fiatpay.url, secretKey, timeoutMs: payouts.timeoutMs }
}
