import { z } from 'zod'
import { deriveKey } from '../../kernel/aead.js'
import { serviceName } from '../../kernel/brand.js'
import { solMint, tokenByMint } from '../../kernel/tokens.js'
import { allSecrets, requiredSecrets, type Secret, withoutOtherSecrets } from './secrets.js'
import { parseTrustProxy } from './trust-proxy.js'
import { walletKeys } from './wallet-keys.js'

/** The settings of a process: read once, frozen, typed. Nothing else reads the environment. */
export type Config = Readonly<ReturnType<typeof shape>>

const list = z.string().transform((text) =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== ''),
)
const url = z
  .url({ protocol: /^https?$/, error: 'must be an http(s) URL' })
  .transform((text) => text.replace(/\/+$/, ''))
const flag = z.enum(['0', '1', 'true', 'false']).transform((text) => text === '1' || text === 'true')
const proxies = z.string().transform((text, ctx) => {
  const trust = parseTrustProxy(text.trim())
  if (trust !== undefined) return trust
  const message = 'must be true, false, a number of proxies, or networks such as 10.0.0.0/8,2001:db8::/32'
  ctx.addIssue({ code: 'custom', message })
  return z.NEVER
})
const address = z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/, 'must be a base58 address')
/** The token that creators with yield routing receive. Swaps cannot pay out native SOL, and a stable token earns nothing. */
const stakingMint = address.refine((mint) => {
  const token = tokenByMint(mint)
  return token !== undefined && !token.stable && mint !== solMint
}, 'must be a token the service knows, neither stable nor SOL')
const number = (min: number, max: number) => z.coerce.number().min(min).max(max)
const whole = (min: number, max: number) => number(min, max).int()
const key = z
  .string()
  .transform((text) => Buffer.from(text, 'base64'))
  .refine((bytes) => bytes.length === 32, 'must be 32 bytes, base64')
const mailbox = z
  .string()
  .refine(
    (text) => z.email().safeParse(/^[^<>\r\n]*<([^<>]+)>$/.exec(text)?.[1] ?? text).success,
    'must be an e-mail address, alone or as Name <address>',
  )

/** What `pg` accepts: a URL, which may leave out the host and name a socket in its query, or the path of a socket. */
function isPostgres(text: string): boolean {
  if (/^(\/|socket:)/.test(text)) return true
  return /^postgres(ql)?:\/\//i.test(text) && URL.canParse(text.replace('@/', '@localhost/'))
}

/** What `ioredis` accepts: a URL, the same without its scheme but with a port, or the path of a socket. */
function isRedis(text: string): boolean {
  if (/^rediss?:\/\//i.test(text)) return URL.canParse(text)
  return text.startsWith('/') || (/^[^/]*:\d+([/?]|$)/.test(text) && URL.canParse(`redis://${text}`))
}

/** The operators' pages show what every creator is paid. A password manager fills the password in, so it may be long. */
const operatorsPasswordLength = 16

/**
 * Names and defaults of all settings. `.env.example` explains each in one line. Which process needs which secret stands in
 * secrets.ts; those that not every process has are optional here.
 */
const settings = z.object({
  NODE_ENV: z.string().optional(),
  PORT: whole(0, 65_535).default(3000),
  PUBLIC_URL: url.optional(),
  DATABASE_URL: z.string().refine(isPostgres, 'must be a postgres(ql) URL'),
  REDIS_URL: z
    .string()
    .refine((text) => text.split(',').every(isRedis), 'must be a redis(s) URL, or several of a cluster'),
  REDIS_NAMESPACE: z
    .string()
    .regex(/^[\w-]{1,40}$/)
    .default('tipping'),
  SOLANA_RPC_URLS: list.pipe(z.array(url).min(1)).optional(),
  AGREE_ABOVE_USD: number(0, 1e9).optional(),
  PUBLIC_RPC_URL: url.optional(),
  PUBLIC_BUNDLE_RPC_URL: url.optional(),
  SOLANA_GENESIS_HASH: address.optional(),
  TREASURY_WALLET: address,
  PRICE_URL: url,
  PRICE_API_KEY: z.string().optional(),
  FIATPAY_URL: url,
  FIATPAY_SECRET_KEY: z.string().min(1).optional(),
  PAYOUT_SECRET_KEY: z.string().min(1).optional(),
  // Exchange rates.
  RATE_URL: url.optional(),
  SECOND_RATE_URL: url.optional(),
  RATE_JUMP_PERCENT: whole(1, 1000).default(20),
  RATE_WINDOW_PERCENT: number(1, 1000).default(20),
  RATE_MIN_NGN: number(0.01, 1e6).optional(),
  RATE_MAX_NGN: number(0.01, 1e6).optional(),
  RATE_LOCK_TOLERANCE_PERCENT: number(0, 100).default(1),
  AGGREGATOR_ULTRA_URL: url.optional(),
  AGGREGATOR_V6_URL: url.optional(),
  AGGREGATOR_API_KEY: z.string().optional(),
  AGGREGATOR_REFERRAL_ACCOUNT: address.optional(),
  LIQUID_STAKING_MINT: stakingMint.default('J1toso1uCk3RLmjorhTtrVwY9HJ7X8V9yYac6Y7kGCPn'),
  TRUST_PROXY: proxies.default(0),
  // Limits of requests. They share their prefix with the exchange rates above.
  RATE_LIMIT_FACTOR: number(0, 10_000).default(1),
  RATE_READS: whole(1, 1e6).default(120),
  RATE_STATUS: whole(1, 1e6).default(60),
  RATE_TIPS_CREATE: whole(1, 1e6).default(60),
  RATE_INTENTS: whole(1, 1e6).default(60),
  RATE_API_KEY: whole(1, 1e6).default(300),
  RATE_SDK_ADDRESS: whole(1, 1e6).default(600),
  RATE_SDK_INTENT_READS: whole(1, 1e6).default(60),
  RATE_WITHDRAW: whole(1, 1e6).default(5),
  RATE_RESOLVE: whole(1, 1e6).default(10),
  RATE_RESOLVE_ADDRESS: whole(1, 1e6).default(60),
  RATE_REGISTER: whole(1, 1e6).default(10),
  RATE_LOGIN: whole(1, 1e6).default(10),
  RATE_OTP_START: whole(1, 1e6).default(5),
  RATE_SIGN_IN_ADDRESS: whole(1, 1e6).default(300),
  RATE_FAILED_CODES: whole(1, 1e6).default(100),
  RATE_STREAMS: whole(1, 1e6).default(20),
  RATE_WEBHOOKS: whole(1, 1e6).default(3000),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  METRICS_PORT: whole(0, 65_535).optional(),
  WORKER_PORT: whole(0, 65_535).optional(),
  STOP_WITH_STDIN: flag.default(false),
  OTP_PEPPER: key.optional(),
  DATA_KEY: key.optional(),
  SESSION_IDLE_DAYS: number(0.01, 365).default(7),
  SESSION_ABSOLUTE_DAYS: number(0.01, 365).default(30),
  ACCESS_TOKEN_HOURS: number(0.01, 8760).default(24),
  REAUTHENTICATION_MINUTES: number(0, 1440).default(15),
  RETAIN_EMAILS_DAYS: whole(1, 36_500).default(30),
  RETAIN_PAYER_EMAILS_DAYS: whole(30, 36_500).optional(),
  CRYPTO_FEE_BPS: whole(0, 5000).default(200),
  MIN_TIP_USD: number(0, 1e6).default(0.01),
  MAX_TIP_USD: number(0, 1e6).default(10_000),
  PRICE_JUMP_PERCENT: number(1, 1000).default(20),
  FIAT_CHARGE_BASIS: z.enum(['net', 'gross']).default('net'),
  FIAT_MIN_NGN: whole(100, 1e9).default(100),
  FIAT_MAX_NGN: whole(1, 1e9).default(10_000_000),
  FIAT_EXPIRY_MINUTES: number(0.01, 1440).default(30),
  FIAT_WATCH_DAYS: number(0.01, 365).default(7),
  FIAT_OPEN_INTENTS: whole(1, 1e6).default(20),
  CARD_RESERVE_DAYS: number(0, 365).default(0),
  DISPUTE_POLL_SECONDS: number(0.05, 86_400).default(300),
  SHORT_PAYMENT_TOLERANCE_PERCENT: number(0, 50).default(1),
  FIATPAY_DEDUPLICATES: flag.default(true),
  WITHDRAW_FEE_NGN: whole(0, 1e6).default(50),
  WITHDRAW_FEE_BPS: whole(0, 5000).default(100),
  WITHDRAW_MIN_NGN: whole(1, 1e6).default(100),
  WITHDRAW_WAIT_MS: whole(0, 20_000).default(8000),
  WITHDRAW_WAITS: whole(0, 1e5).default(500),
  IDENTITY_SINGLE_NGN: whole(0, 1e12).default(200_000),
  IDENTITY_DAILY_NGN: whole(0, 1e12).default(500_000),
  IDENTITY_YOUNG_DAYS: number(0, 3650).default(30),
  IDENTITY_YOUNG_NGN: whole(0, 1e12).optional(),
  IDENTITY_ACCOUNT_DAILY_NGN: whole(0, 1e12).optional(),
  IDENTITY_ACCOUNT_MONTHLY_NGN: whole(0, 1e12).optional(),
  IDENTITY_ACCOUNT_TOTAL_NGN: whole(0, 1e12).optional(),
  IDENTITY_NAME_DAILY_NGN: whole(0, 1e12).optional(),
  IDENTITY_NAME_MONTHLY_NGN: whole(0, 1e12).optional(),
  IDENTITY_NAME_TOTAL_NGN: whole(0, 1e12).optional(),
  PAYOUT_HOURLY_NGN: whole(0, 1e12).optional(),
  PAYOUT_DAILY_NGN: whole(0, 1e12).optional(),
  PAYOUT_CREATOR_HOURLY_NGN: whole(0, 1e12).optional(),
  PAYOUT_CREATOR_DAILY_NGN: whole(0, 1e12).optional(),
  PAYOUT_TIMEOUT_MS: whole(50, 30_000).default(15_000),
  PAYOUT_LOOK_SECONDS: number(0.01, 60).default(3),
  PAYOUT_SETTLE_SECONDS: number(0.1, 86_400).default(900),
  SWEEP_AFTER_HOURS: number(0, 8760).default(72),
  WALLET_WAIT_MS: whole(0, 20_000).default(3000),
  CLAIM_WINDOW_HOURS: number(0.1, 8760).default(24),
  MESSAGE_WINDOW_MINUTES: number(0, 1440).default(10),
  SDK_SESSION_MINUTES: number(0.01, 1440).default(15),
  SDK_SESSION_INTENTS: whole(1, 1000).default(5),
  RPC_STATUS_BATCH: whole(1, 256).default(256),
  RPC_TRANSACTION_BATCH: whole(1, 256).default(100),
})

/** Conditions between settings. Checked even when other settings are faulty, so that one message lists every fault. */
const consistent = (needed: typeof settings) =>
  needed
    .refine(({ MIN_TIP_USD, MAX_TIP_USD }) => MIN_TIP_USD <= MAX_TIP_USD, {
      path: ['MIN_TIP_USD'],
      error: 'must not be above MAX_TIP_USD',
      when: ({ value }) => settings.pick({ MIN_TIP_USD: true, MAX_TIP_USD: true }).safeParse(value).success,
    })
    .refine(({ RATE_MIN_NGN: min = 0, RATE_MAX_NGN: max = Number.POSITIVE_INFINITY }) => min <= max, {
      path: ['RATE_MIN_NGN'],
      error: 'must not be above RATE_MAX_NGN',
      when: ({ value }) => settings.pick({ RATE_MIN_NGN: true, RATE_MAX_NGN: true }).safeParse(value).success,
    })
    .refine(({ NODE_ENV, PUBLIC_URL }) => NODE_ENV !== 'production' || /^https:/i.test(PUBLIC_URL ?? ''), {
      path: ['PUBLIC_URL'],
      error:
        'must be set to an https URL with NODE_ENV=production: over http anybody on the way reads the session cookies',
      when: ({ value }) => settings.pick({ NODE_ENV: true, PUBLIC_URL: true }).safeParse(value).success,
    })

/** DATA_KEY where it is not set. */
export const deriveDataKey = (otpPepper: Uint8Array): Buffer => deriveKey(otpPepper, 'data/1')

function shape(s: z.output<typeof settings>) {
  const dataKey = s.DATA_KEY ?? (s.OTP_PEPPER && deriveDataKey(s.OTP_PEPPER))
  const publicRpcUrl = s.PUBLIC_RPC_URL ?? s.SOLANA_RPC_URLS?.find(holdsNoKey)
  return {
    http: {
      port: s.PORT,
      publicUrl: s.PUBLIC_URL ?? `http://localhost:${s.PORT}`,
      trustProxy: s.TRUST_PROXY,
    },
    databaseUrl: s.DATABASE_URL,
    redis: { url: s.REDIS_URL, namespace: s.REDIS_NAMESPACE },
    chain: {
      rpcUrls: s.SOLANA_RPC_URLS,
      agreeAboveUsd: s.AGREE_ABOVE_USD,
      publicRpcUrl,
      publicBundleRpcUrl: s.PUBLIC_BUNDLE_RPC_URL ?? publicRpcUrl,
      genesisHash: s.SOLANA_GENESIS_HASH,
      statusBatch: s.RPC_STATUS_BATCH,
      transactionBatch: s.RPC_TRANSACTION_BATCH,
    },
    prices: { url: s.PRICE_URL, apiKey: s.PRICE_API_KEY, jumpPercent: s.PRICE_JUMP_PERCENT },
    fiatpay: {
      url: s.FIATPAY_URL,
      secretKey: s.FIATPAY_SECRET_KEY,
      /** Pays: sends payouts and refunds. */
      payoutKey: s.PAYOUT_SECRET_KEY ?? s.FIATPAY_SECRET_KEY,
      deduplicates: s.FIATPAY_DEDUPLICATES,
    },
    rates: {
      url: s.RATE_URL,
      secondUrl: s.SECOND_RATE_URL,
      jumpPercent: s.RATE_JUMP_PERCENT,
      windowPercent: s.RATE_WINDOW_PERCENT,
      minNgn: s.RATE_MIN_NGN,
      maxNgn: s.RATE_MAX_NGN,
      lockTolerancePercent: s.RATE_LOCK_TOLERANCE_PERCENT,
    },
    fiat: {
      chargeBasis: s.FIAT_CHARGE_BASIS,
      minNgn: s.FIAT_MIN_NGN,
      maxNgn: s.FIAT_MAX_NGN,
      expiryMinutes: s.FIAT_EXPIRY_MINUTES,
      watchDays: s.FIAT_WATCH_DAYS,
      openIntents: s.FIAT_OPEN_INTENTS,
      cardReserveDays: s.CARD_RESERVE_DAYS,
      disputePollSeconds: s.DISPUTE_POLL_SECONDS,
      shortPaymentPercent: s.SHORT_PAYMENT_TOLERANCE_PERCENT,
    },
    swaps: {
      ultraUrl: s.AGGREGATOR_ULTRA_URL,
      v6Url: s.AGGREGATOR_V6_URL,
      apiKey: s.AGGREGATOR_API_KEY,
      referralAccount: s.AGGREGATOR_REFERRAL_ACCOUNT,
    },
    withdrawals: {
      leastFeeNgn: s.WITHDRAW_FEE_NGN,
      feeBps: s.WITHDRAW_FEE_BPS,
      minNgn: s.WITHDRAW_MIN_NGN,
      waitMs: s.WITHDRAW_WAIT_MS,
      maxWaits: s.WITHDRAW_WAITS,
      identitySingleNgn: s.IDENTITY_SINGLE_NGN,
      identityDailyNgn: s.IDENTITY_DAILY_NGN,
      youngDays: s.IDENTITY_YOUNG_DAYS,
      youngNgn: s.IDENTITY_YOUNG_NGN,
      perAccount: {
        dailyNgn: s.IDENTITY_ACCOUNT_DAILY_NGN,
        monthlyNgn: s.IDENTITY_ACCOUNT_MONTHLY_NGN,
        totalNgn: s.IDENTITY_ACCOUNT_TOTAL_NGN,
      },
      perName: {
        dailyNgn: s.IDENTITY_NAME_DAILY_NGN,
        monthlyNgn: s.IDENTITY_NAME_MONTHLY_NGN,
        totalNgn: s.IDENTITY_NAME_TOTAL_NGN,
      },
    },
    payouts: {
      timeoutMs: s.PAYOUT_TIMEOUT_MS,
      // An attempt is two requests. A process that needs twice the time of both has crashed.
      leaseSeconds: Math.max(1, (4 * s.PAYOUT_TIMEOUT_MS) / 1000),
      pollSeconds: s.PAYOUT_LOOK_SECONDS,
      settleSeconds: s.PAYOUT_SETTLE_SECONDS,
      limits: {
        hourlyNgn: s.PAYOUT_HOURLY_NGN,
        dailyNgn: s.PAYOUT_DAILY_NGN,
        creatorHourlyNgn: s.PAYOUT_CREATOR_HOURLY_NGN,
        creatorDailyNgn: s.PAYOUT_CREATOR_DAILY_NGN,
      },
    },
    sessions: {
      idleDays: s.SESSION_IDLE_DAYS,
      absoluteDays: s.SESSION_ABSOLUTE_DAYS,
      accessTokenHours: s.ACCESS_TOKEN_HOURS,
      reauthenticationMinutes: s.REAUTHENTICATION_MINUTES,
    },
    retention: { emailsDays: s.RETAIN_EMAILS_DAYS, payerEmailsDays: s.RETAIN_PAYER_EMAILS_DAYS },
    get otpPepper() {
      return s.OTP_PEPPER ?? refuseUse('OTP_PEPPER')
    },
    get dataKey() {
      return dataKey ?? refuseUse('DATA_KEY')
    },
    tips: {
      treasuryWallet: s.TREASURY_WALLET,
      feeBps: s.CRYPTO_FEE_BPS,
      liquidStakingMint: s.LIQUID_STAKING_MINT,
      minUsd: s.MIN_TIP_USD,
      maxUsd: s.MAX_TIP_USD,
      walletWaitMs: s.WALLET_WAIT_MS,
      claimWindowHours: s.CLAIM_WINDOW_HOURS,
      messageWindowMs: s.MESSAGE_WINDOW_MINUTES * 60_000,
    },
    treasury: { sweepAfterHours: s.SWEEP_AFTER_HOURS },
    limits: {
      factor: s.RATE_LIMIT_FACTOR,
      reads: s.RATE_READS,
      status: s.RATE_STATUS,
      tipsCreate: s.RATE_TIPS_CREATE,
      intents: s.RATE_INTENTS,
      apiKey: s.RATE_API_KEY,
      sdkAddress: s.RATE_SDK_ADDRESS,
      sdkIntentReads: s.RATE_SDK_INTENT_READS,
      withdraw: s.RATE_WITHDRAW,
      resolve: s.RATE_RESOLVE,
      resolveAddress: s.RATE_RESOLVE_ADDRESS,
      register: s.RATE_REGISTER,
      login: s.RATE_LOGIN,
      otpStart: s.RATE_OTP_START,
      signInAddress: s.RATE_SIGN_IN_ADDRESS,
      failedCodes: s.RATE_FAILED_CODES,
      streams: s.RATE_STREAMS,
      webhooks: s.RATE_WEBHOOKS,
    },
    sdk: { sessionMinutes: s.SDK_SESSION_MINUTES, sessionIntents: s.SDK_SESSION_INTENTS },
    logLevel: s.LOG_LEVEL,
    metricsPort: s.METRICS_PORT,
    workerPort: s.WORKER_PORT,
    stopWithStdin: s.STOP_WITH_STDIN,
  }
}

/** RPC providers put the customer's key into the path, the query or the user part. Pages must not show such a URL. */
function holdsNoKey(rpcUrl: string): boolean {
  const { pathname, search, username, password } = new URL(rpcUrl)
  return pathname === '/' && search + username + password === ''
}

/** One setting that is missing or bad. The message never contains the value, which may be a secret. */
export interface SettingFault {
  readonly setting: string
  readonly message: string
}

/** The settings are not usable. The message lists every fault. */
export class ConfigError extends Error {
  override name = 'ConfigError'
  readonly faults: readonly SettingFault[]

  constructor(faults: readonly SettingFault[]) {
    super(
      ['The settings are not usable:', ...faults.map((one) => `  ${one.setting}: ${one.message}`)].join('\n'),
    )
    this.faults = faults
  }
}

/** Thrown where a process uses a secret that is not among its own. */
export function refuseUse(secret: Secret): never {
  throw new Error(`this process does not read ${secret}: src/platform/config/secrets.ts says which one does`)
}

/**
 * Reads the settings of a process, and of the secrets only these. Throws ConfigError. An empty or blank value counts as
 * absent.
 */
export function loadConfig(
  env: NodeJS.ProcessEnv = process.env,
  secrets: readonly Secret[] = allSecrets,
): Config {
  const own = withoutOtherSecrets(env, secrets)
  const required = requiredSecrets(own, secrets).filter((secret) => secret in settings.shape)
  const mask = Object.fromEntries(required.map((secret) => [secret, true])) as { SOLANA_RPC_URLS: true }
  const needed = settings.required(mask) as unknown as typeof settings
  return Object.freeze(shape(readSettings(consistent(needed), own)))
}

/** For commands that need the database and nothing else. */
export function loadDatabaseUrl(env: NodeJS.ProcessEnv = process.env): string {
  return readSettings(settings.pick({ DATABASE_URL: true }), env).DATABASE_URL
}

/** For the command that prepares the wallet the platform's fees arrive in. */
export type TreasurySettings = ReturnType<typeof loadTreasury>

export function loadTreasury(env: NodeJS.ProcessEnv = process.env) {
  const needed = settings
    .pick({
      DATABASE_URL: true,
      SOLANA_RPC_URLS: true,
      SOLANA_GENESIS_HASH: true,
      TREASURY_WALLET: true,
      AGGREGATOR_REFERRAL_ACCOUNT: true,
    })
    .required({ SOLANA_RPC_URLS: true })
  const s = readSettings(needed, env)
  return {
    databaseUrl: s.DATABASE_URL,
    rpcUrls: s.SOLANA_RPC_URLS,
    genesisHash: s.SOLANA_GENESIS_HASH,
    wallet: s.TREASURY_WALLET,
    referralAccount: s.AGGREGATOR_REFERRAL_ACCOUNT,
  }
}

/**
 * The key-encryption keys of the custody wallets, by version. Only the provisioner, the custodian and the command that rotates them
 * read them. They are not part of Config, so that no other process holds them.
 */
export function loadWalletKeys(env: NodeJS.ProcessEnv = process.env): ReadonlyMap<number, Buffer> {
  return readSettings(z.object({ WALLET_KEK: walletKeys }), env).WALLET_KEK
}

/**
 * The seed of the Ed25519 key that signs reserve reports: 32 bytes, base64; unset: made from OTP_PEPPER. Only the clock and the
 * command that makes a report read it. It is not part of Config, so that no other process signs.
 */
export function loadReportSigningKey(env: NodeJS.ProcessEnv = process.env): Buffer {
  const own = readSettings(z.object({ REPORT_SIGNING_KEY: key.optional() }), env).REPORT_SIGNING_KEY
  if (own !== undefined) return own
  const pepper = readSettings(z.object({ OTP_PEPPER: key.optional() }), env).OTP_PEPPER
  if (pepper === undefined) throw new ConfigError([{ setting: 'REPORT_SIGNING_KEY', message: 'is missing' }])
  return deriveKey(pepper, 'report-signing/1')
}

/**
 * The mail server and the sender: `Name <address>`. Only the mailer reads them, because the URL may contain a password. An
 * address alone gets the service's name.
 */
export function loadMail(env: NodeJS.ProcessEnv = process.env): {
  readonly url: string
  readonly from: string
} {
  const smtpUrl = z.url({ protocol: /^smtps?$/, hostname: /./, error: 'must be an smtp(s) URL' })
  const { SMTP_URL: url, MAIL_FROM: from } = readSettings(
    z.object({ SMTP_URL: smtpUrl, MAIL_FROM: mailbox }),
    env,
  )
  return { url, from: from.includes('<') ? from : `${serviceName} <${from}>` }
}

/**
 * The address and login of the operators' pages; undefined when they are switched off. Only the clock reads them, so
 * that no other process holds the password.
 */
export function loadOperators(
  env: NodeJS.ProcessEnv = process.env,
):
  | { readonly host: string; readonly port: number; readonly user: string; readonly password: string }
  | undefined {
  if (readSettings(z.object({ OPS_PORT: z.string().optional() }), env).OPS_PORT === undefined)
    return undefined
  const operators = z.object({
    OPS_PORT: whole(0, 65_535),
    OPS_HOST: z.string().default('127.0.0.1'),
    OPS_USER: z.string().regex(/^[^:]{1,100}$/, 'must be a name without a colon'),
    OPS_PASSWORD: z.string().min(operatorsPasswordLength),
  })
  const {
    OPS_HOST: host,
    OPS_PORT: port,
    OPS_USER: user,
    OPS_PASSWORD: password,
  } = readSettings(operators, env)
  return { host, port, user, password }
}

/** Reads the settings of a schema. Throws ConfigError. An empty or blank value counts as absent. */
export function readSettings<Schema extends z.ZodType>(
  schema: Schema,
  env: NodeJS.ProcessEnv,
): z.output<Schema> {
  const present = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value.trim() !== ''),
  )
  const result = schema.safeParse(present)
  if (result.success) return result.data
  throw new ConfigError(
    result.error.issues.map(({ code, path, message }) => {
      const missing = code === 'invalid_type' && !(String(path[0]) in present)
      return { setting: path.join('.'), message: missing ? 'is missing' : message }
    }),
  )
}
