import type { z } from 'zod'
import { deriveKey } from '../../kernel/aead.js'
import { DataKeys } from '../../kernel/personal-data.js'
import { guardTable, withGuardDefaults } from './guards.js'
import { allSecrets, requiredSecrets, type Secret, withoutOtherSecrets } from './process-secrets.js'
import { readSettings } from './read-settings.js'
import { addressIn } from './setting-forms.js'
import { consistent, dataKeyKnown, settings } from './settings.js'

/** The settings of a process: read once, frozen, typed. Nothing else reads the environment. */
export type Config = Readonly<ReturnType<typeof shape>>

/** DATA_KEY where it is not set. */
export const deriveDataKey = (otpPepper: Uint8Array): Buffer => deriveKey(otpPepper, 'data/1')

/** Further connections of a web process, for recording tips. */
const recordPool = 2

/** Limits of requests that nobody sets; the factor counts for them too. .env.example says what the others are for. */
const furtherLimits = {
  /** Per minute and IP, on top of the limits per API key and intent: bounds attempts to guess them. */
  sdkAddress: 600,
  /** Per minute and intent, by SDK sessions. */
  sdkIntentReads: 60,
  /** Of one creator's public page, per minute: more than visitors pay, so that a stranger with many addresses fills no table. */
  pageSessions: 1200,
  /** Names of bank accounts, per hour and user, and per hour and IP over all users. */
  resolve: 10,
  resolveAddress: 60,
  /** Play money of a test deployment, per hour and creator. */
  airdrops: 20,
  /** Per 15 minutes and IP, over all accounts: logins, requests for codes and new passwords, changes of password and e-mail. */
  signInAddress: 300,
  /** Wrong one-time codes, per 15 minutes and IP, over all accounts. */
  failedCodes: 100,
  /** The fiat provider's, per minute and IP. */
  webhooks: 3000,
} as const

function shape(s: z.output<typeof settings>) {
  const derived = s.OTP_PEPPER?.length === 1 ? ([deriveDataKey(s.OTP_PEPPER[0])] as const) : undefined
  const dataKeyList = s.DATA_KEY ?? derived
  const dataKeys = dataKeyList === undefined ? undefined : new DataKeys(dataKeyList)
  const identity = s.IDENTITY_LIMITS_NGN
  const [timeoutSeconds, pollSeconds, settleSeconds] = s.PAYOUT_SECONDS
  const publicRpcUrl = s.PUBLIC_RPC_URL ?? s.SOLANA_RPC_URLS?.find(holdsNoKey)
  return {
    mode: s.MODE,
    /** The address of the deployment of the other mode, if it is known. */
    otherUrl: s.MODE === 'live' ? s.TEST_URL : s.LIVE_URL,
    guards: s.GUARDS,
    guardTable: guardTable(s),
    http: {
      port: s.PORT,
      publicUrl: s.PUBLIC_URL ?? `http://localhost:${s.PORT}`,
      /** Where a person reads what payers write: the address that our mails come from. */
      contact: s.MAIL_FROM && addressIn(s.MAIL_FROM),
      trustProxy: s.TRUST_PROXY,
      /** How long a web process that stops answers /ready with 503 and still takes requests. Without TRUST_PROXY nobody is in front. */
      drainSeconds: s.TRUST_PROXY === undefined ? 0 : 5,
    },
    database: {
      ...s.DATABASE_URL,
      pool: s.DB_POOL,
      recordPool,
      standby: s.DATABASE_READ_URL && {
        ...s.DATABASE_READ_URL,
        url: withUserOf(s.DATABASE_URL.url, s.DATABASE_READ_URL.url),
      },
    },
    redis: s.REDIS_URL,
    chain: {
      rpcUrls: s.SOLANA_RPC_URLS,
      agreeAboveUsd: s.AGREE_ABOVE_USD,
      publicRpcUrl,
      publicBundleRpcUrl: s.PUBLIC_BUNDLE_RPC_URL ?? publicRpcUrl,
      genesisHash: s.SOLANA_GENESIS_HASH,
    },
    prices: { url: s.PRICE_URL, apiKey: priceKeyOf(s), jumpPercent: s.PRICE_JUMP_PERCENT },
    fiatpay: {
      url: s.FIATPAY_URL,
      secretKey: s.FIATPAY_SECRET_KEY?.[0],
      /** Webhooks that are signed with one of these are the provider's. */
      webhookKeys: s.FIATPAY_SECRET_KEY,
      /** Pays: sends payouts and refunds. */
      payoutKey: s.PAYOUT_SECRET_KEY ?? s.FIATPAY_SECRET_KEY?.[0],
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
      refundDays: s.REFUND_DAYS,
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
      confirmAccounts: s.CONFIRM_ACCOUNTS,
      identitySingleNgn: s.IDENTITY_SINGLE_NGN,
      identityDailyNgn: s.IDENTITY_DAILY_NGN,
      youngNgn: identity.young,
      perAccount: {
        dailyNgn: identity['account-day'],
        monthlyNgn: identity['account-month'],
        totalNgn: identity['account-total'],
      },
      perName: {
        dailyNgn: identity['name-day'],
        monthlyNgn: identity['name-month'],
        totalNgn: identity['name-total'],
      },
    },
    payouts: {
      timeoutMs: timeoutSeconds * 1000,
      // An attempt is two requests. A process that needs twice the time of both has crashed.
      leaseSeconds: Math.max(1, 4 * timeoutSeconds),
      pollSeconds,
      settleSeconds,
      limits: {
        hourlyNgn: s.PAYOUT_LIMITS_NGN.hour,
        dailyNgn: s.PAYOUT_LIMITS_NGN.day,
        creatorHourlyNgn: s.PAYOUT_LIMITS_NGN['creator-hour'],
        creatorDailyNgn: s.PAYOUT_LIMITS_NGN['creator-day'],
      },
    },
    sessions: {
      idleDays: s.SESSION_IDLE_DAYS,
      absoluteDays: s.SESSION_ABSOLUTE_DAYS,
      accessTokenHours: s.ACCESS_TOKEN_HOURS,
    },
    retention: { payerEmailsDays: s.RETAIN_PAYER_EMAILS_DAYS },
    /** New codes are made with the first. A code of any of them is accepted. */
    get otpPeppers() {
      return s.OTP_PEPPER ?? refuseUse('OTP_PEPPER')
    },
    /** With two values, and where DATA_KEY was changed before, `openDataKeys` must have compared them with the database. */
    get dataKeys() {
      return dataKeys ?? refuseUse('DATA_KEY')
    },
    tips: {
      treasuryWallet: s.TREASURY_WALLET,
      feeBps: s.CRYPTO_FEE_BPS,
      minUsd: s.MIN_TIP_USD,
      maxUsd: s.MAX_TIP_USD,
      walletWaitMs: s.WALLET_WAIT_MS,
      claimWindowHours: s.CLAIM_WINDOW_HOURS,
    },
    treasury: { sweepAfterHours: s.SWEEP_AFTER_HOURS },
    limits: {
      factor: s.RATE_LIMIT_FACTOR,
      reads: s.RATE_READS,
      status: s.RATE_STATUS,
      tipsCreate: s.RATE_TIPS_CREATE,
      intents: s.RATE_INTENTS,
      apiKey: s.RATE_API_KEY,
      withdraw: s.RATE_WITHDRAW,
      register: s.RATE_REGISTER,
      login: s.RATE_LOGIN,
      otpStart: s.RATE_OTP_START,
      streams: s.RATE_STREAMS,
      ...furtherLimits,
    },
    sdk: { sessionMinutes: s.SDK_SESSION_MINUTES, sessionIntents: s.SDK_SESSION_INTENTS },
    logLevel: s.LOG_LEVEL,
    tracesUrl: s.OTEL_EXPORTER_OTLP_ENDPOINT,
    metricsPort: s.METRICS_PORT,
    workerPort: s.WORKER_PORT,
  }
}

/** The swap engines and the price feed of one host take one key. No other host gets it. */
export function priceKeyOf(
  s: Readonly<
    Partial<
      Record<
        'PRICE_URL' | 'AGGREGATOR_ULTRA_URL' | 'AGGREGATOR_V6_URL' | 'AGGREGATOR_API_KEY',
        string | undefined
      >
    >
  >,
): string | undefined {
  const hostOf = (url: string | undefined): string | undefined => url && new URL(url).host
  const engines = [s.AGGREGATOR_ULTRA_URL, s.AGGREGATOR_V6_URL].map(hostOf)
  return engines.includes(hostOf(s.PRICE_URL ?? '')) ? s.AGGREGATOR_API_KEY : undefined
}

/** The address of a standby with the user and the password, if there are any, of its primary. */
function withUserOf(primary: string, standby: string): string {
  const [user = ''] = /(?<=:\/\/)[^/?]*@/.exec(primary) ?? []
  return standby.replace('://', () => `://${user}`)
}

/** RPC providers put the customer's key into the path, the query or the user part. Pages must not show such a URL. */
function holdsNoKey(rpcUrl: string): boolean {
  const { pathname, search, username, password } = new URL(rpcUrl)
  return pathname === '/' && search + username + password === ''
}

/** Thrown where a process uses a secret that is not among its own. */
export function refuseUse(secret: Secret): never {
  throw new Error(
    `this process does not read ${secret}: src/platform/config/process-secrets.ts says which one does`,
  )
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
  const checked = consistent(needed)
  const all = secrets.includes('DATA_KEY') ? dataKeyKnown(checked) : checked
  return Object.freeze(shape(readSettings(all, withGuardDefaults(own))))
}
