import type { z } from 'zod'
import { deriveKey } from '../../kernel/aead.js'
import { DataKeys } from '../../kernel/personal-data.js'
import { guardTable, withGuardDefaults } from './guards.js'
import { allSecrets, requiredSecrets, type Secret, withoutOtherSecrets } from './process-secrets.js'
import { readSettings } from './read-settings.js'
import { consistent, dataKeyKnown, settings } from './settings.js'

/** The settings of a process: read once, frozen, typed. Nothing else reads the environment. */
export type Config = Readonly<ReturnType<typeof shape>>

/** DATA_KEY where it is not set. */
export const deriveDataKey = (otpPepper: Uint8Array): Buffer => deriveKey(otpPepper, 'data/1')

function shape(s: z.output<typeof settings>) {
  const derived = s.OTP_PEPPER?.length === 1 ? ([deriveDataKey(s.OTP_PEPPER[0])] as const) : undefined
  const dataKeyList = s.DATA_KEY ?? derived
  const dataKeys = dataKeyList === undefined ? undefined : new DataKeys(dataKeyList)
  const publicRpcUrl = s.PUBLIC_RPC_URL ?? s.SOLANA_RPC_URLS?.find(holdsNoKey)
  return {
    guards: s.GUARDS,
    guardTable: guardTable(s),
    http: {
      port: s.PORT,
      publicUrl: s.PUBLIC_URL ?? `http://localhost:${s.PORT}`,
      trustProxy: s.TRUST_PROXY,
      keepAliveSeconds: s.KEEP_ALIVE_SECONDS,
      drainSeconds: s.DRAIN_SECONDS,
    },
    database: { url: s.DATABASE_URL, pool: s.DB_POOL, recordPool: s.DB_RECORD_POOL, prepared: s.DB_PREPARED },
    redis: {
      url: s.REDIS_URL,
      namespace: s.REDIS_NAMESPACE,
      cluster: s.REDIS_CLUSTER || s.REDIS_URL.includes(','),
      tls: { ca: s.REDIS_TLS_CA, insecure: s.REDIS_TLS_INSECURE },
    },
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
      confirmAccounts: s.CONFIRM_ACCOUNTS,
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
