import { z } from 'zod'
import {
  address,
  between,
  flag,
  keys,
  list,
  mailbox,
  named,
  number,
  orOff,
  postgres,
  providerKey,
  providerKeys,
  proxies,
  redis,
  standbyPostgres,
  url,
  whole,
} from './setting-forms.js'

/** Above these the creator's identity is needed: of a young account in all, and to one bank account or to one name in a day, in 30 days and for ever. */
const identityLimits = [
  'young',
  'account-day',
  'account-month',
  'account-total',
  'name-day',
  'name-month',
  'name-total',
] as const
/** No more leaves in an hour and in 24 hours, of all creators and of one. */
const payoutLimits = ['hour', 'day', 'creator-hour', 'creator-day'] as const

/**
 * Names and defaults of all settings. `.env.example` explains each in one line. Which process needs which secret stands in
 * process-secrets.ts; those that not every process has are optional here.
 */
export const settings = z.object({
  NODE_ENV: z.string().optional(),
  MODE: z.enum(['live', 'test']).default('live'),
  TEST_URL: url.optional(),
  LIVE_URL: url.optional(),
  // The guards' own settings have their defaults in guards.ts.
  GUARDS: z.enum(['recommended', 'contract']).default('recommended'),
  CONFIRM_ACCOUNTS: z.enum(['off', 'new', 'all']),
  PORT: whole(0, 65_535).default(3000),
  PUBLIC_URL: url.optional(),
  MAIL_FROM: mailbox.optional(),
  DATABASE_URL: postgres,
  REDIS_URL: redis,
  DATABASE_READ_URL: standbyPostgres.optional(),
  DB_POOL: whole(1, 1000).default(8),
  SOLANA_RPC_URLS: list.pipe(z.array(url).min(1)).optional(),
  AGREE_ABOVE_USD: orOff(number(0, 1e9)),
  PUBLIC_RPC_URL: url.optional(),
  PUBLIC_BUNDLE_RPC_URL: url.optional(),
  SOLANA_GENESIS_HASH: address.optional(),
  TREASURY_WALLET: address,
  PRICE_URL: url,
  FIATPAY_URL: url,
  FIATPAY_SECRET_KEY: providerKeys.optional(),
  PAYOUT_SECRET_KEY: providerKey.optional(),
  // Exchange rates.
  RATE_URL: url.optional(),
  SECOND_RATE_URL: url.optional(),
  RATE_JUMP_PERCENT: whole(1, 1000),
  RATE_WINDOW_PERCENT: number(1, 1000).default(20),
  RATE_MIN_NGN: number(0.01, 1e6).optional(),
  RATE_MAX_NGN: number(0.01, 1e6).optional(),
  RATE_LOCK_TOLERANCE_PERCENT: number(0, 100).default(1),
  AGGREGATOR_ULTRA_URL: url.optional(),
  AGGREGATOR_V6_URL: url.optional(),
  AGGREGATOR_API_KEY: z.string().optional(),
  AGGREGATOR_REFERRAL_ACCOUNT: address.optional(),
  TRUST_PROXY: proxies.optional(),
  // Limits of requests. They share their prefix with the exchange rates above.
  RATE_LIMIT_FACTOR: number(0, 10_000).default(1),
  RATE_READS: whole(1, 1e6).default(120),
  RATE_STATUS: whole(1, 1e6).default(60),
  RATE_TIPS_CREATE: whole(1, 1e6).default(60),
  RATE_INTENTS: whole(1, 1e6).default(60),
  RATE_API_KEY: whole(1, 1e6).default(300),
  RATE_WITHDRAW: whole(1, 1e6).default(5),
  RATE_REGISTER: whole(1, 1e6).default(10),
  RATE_LOGIN: whole(1, 1e6).default(10),
  RATE_OTP_START: whole(1, 1e6).default(5),
  RATE_STREAMS: whole(1, 1e6).default(20),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  OTEL_EXPORTER_OTLP_ENDPOINT: url.optional(),
  METRICS_PORT: whole(0, 65_535).optional(),
  WORKER_PORT: whole(0, 65_535).optional(),
  OTP_PEPPER: keys.optional(),
  DATA_KEY: keys.optional(),
  SESSION_IDLE_DAYS: number(0.01, 365).default(7),
  SESSION_ABSOLUTE_DAYS: number(0.01, 365).default(30),
  ACCESS_TOKEN_HOURS: number(0.01, 8760).default(24),
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
  CARD_RESERVE_DAYS: number(0, 365),
  REFUND_DAYS: whole(1, 365).default(30),
  SHORT_PAYMENT_TOLERANCE_PERCENT: number(0, 50).default(1),
  FIATPAY_DEDUPLICATES: flag.default(true),
  WITHDRAW_FEE_NGN: whole(0, 1e6).default(50),
  WITHDRAW_FEE_BPS: whole(0, 5000).default(100),
  WITHDRAW_MIN_NGN: whole(1, 1e6).default(100),
  WITHDRAW_WAIT_MS: whole(0, 20_000).default(4500),
  IDENTITY_SINGLE_NGN: whole(0, 1e12).default(200_000),
  IDENTITY_DAILY_NGN: whole(0, 1e12).default(500_000),
  IDENTITY_LIMITS_NGN: named(identityLimits),
  PAYOUT_LIMITS_NGN: named(payoutLimits),
  PAYOUT_SECONDS: z
    .string()
    .transform((text) => text.split(',').map(Number))
    .pipe(z.tuple([between(0.05, 30), between(0.01, 60), between(0.1, 86_400)]))
    .default([15, 3, 900]),
  SWEEP_AFTER_HOURS: number(0, 8760).default(72),
  WALLET_WAIT_MS: whole(0, 20_000).default(3000),
  CLAIM_WINDOW_HOURS: number(0.1, 8760).default(24),
  SDK_SESSION_MINUTES: number(0.01, 1440).default(15),
  SDK_SESSION_INTENTS: whole(1, 1000).default(5),
})

const movesRealMoney = (key: string | undefined): boolean => key?.startsWith('sk_live_') === true
const movesPlayMoney = (key: string | undefined): boolean => key?.startsWith('sk_test_') === true
/** The stand-ins are reached over http. */
const isReal = (address: string | undefined): boolean => /^https:/i.test(address ?? '')

/** Conditions between settings. Checked even when other settings are faulty, so that one message lists every fault. */
export const consistent = (needed: typeof settings) =>
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
    .refine(
      ({ MODE, FIATPAY_SECRET_KEY: keys, PAYOUT_SECRET_KEY: payoutKey }) =>
        MODE !== 'test' || ![...(keys ?? []), payoutKey].some(movesRealMoney),
      {
        path: ['MODE'],
        error: 'is test, but FIATPAY_SECRET_KEY or PAYOUT_SECRET_KEY is a live key, which moves real money',
        when: ({ value }) => settings.pick({ MODE: true }).safeParse(value).success,
      },
    )
    .refine(({ MODE, SOLANA_RPC_URLS = [] }) => MODE !== 'test' || !SOLANA_RPC_URLS.some(isReal), {
      path: ['MODE'],
      error:
        'is test, but SOLANA_RPC_URLS leads to a real chain: it must be that of the stand-ins, over http',
      when: ({ value }) => Array.isArray((value as { SOLANA_RPC_URLS?: unknown }).SOLANA_RPC_URLS),
    })
    .refine(
      ({ NODE_ENV, MODE, FIATPAY_URL, FIATPAY_SECRET_KEY: keys, PAYOUT_SECRET_KEY: payoutKey }) =>
        NODE_ENV !== 'production' ||
        MODE !== 'live' ||
        !isReal(FIATPAY_URL) ||
        ![...(keys ?? []), payoutKey].some(movesPlayMoney),
      {
        path: ['FIATPAY_SECRET_KEY'],
        error:
          'or PAYOUT_SECRET_KEY is a test key: what is paid with it is play money, which creators would withdraw as naira',
        when: ({ value }) =>
          settings.pick({ NODE_ENV: true, MODE: true, FIATPAY_URL: true }).safeParse(value).success,
      },
    )

/** For processes that read DATA_KEY. Two peppers do not say which of them has sealed the data. */
export const dataKeyKnown = (checked: typeof settings) =>
  checked.refine(({ OTP_PEPPER: { length } = [], DATA_KEY }) => DATA_KEY !== undefined || length < 2, {
    path: ['DATA_KEY'],
    error:
      'must be set while OTP_PEPPER has two values: it was made from the old one (docs/privacy.md says how to get it)',
    when: ({ value }) => Array.isArray((value as { OTP_PEPPER?: unknown }).OTP_PEPPER),
  })
