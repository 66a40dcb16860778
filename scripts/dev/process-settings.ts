import { serviceName } from '../../src/kernel/brand.js'
import { deriveDataKey } from '../../src/platform/config/config.js'
import type { Secrets } from './secrets.js'
import { type StackSettings, standInsUrl } from './settings.js'

/** Settings that must be the same for the stand-ins and the service. */
export interface SharedSettings {
  readonly treasuryWallet: string
  readonly fiatpayKey: string
  /** The key that may send money. */
  readonly payoutKey: string
  /** Address of the service, for webhooks. */
  readonly publicUrl: string
}

export function sharedSettings(settings: StackSettings, secrets: Secrets): SharedSettings {
  return {
    treasuryWallet: settings.TREASURY_WALLET ?? secrets.treasuryWallet,
    fiatpayKey: settings.FIATPAY_SECRET_KEY ?? secrets.fiatpayKey,
    // A provider of yours may have one key.
    payoutKey: settings.PAYOUT_SECRET_KEY ?? settings.FIATPAY_SECRET_KEY?.split(',')[0] ?? secrets.payoutKey,
    publicUrl: settings.PUBLIC_URL ?? `http://localhost:${settings.PORT}`,
  }
}

/** Known once the chain answers. */
export interface ChainFacts {
  readonly genesisHash: string
  /** Account at the stand-in swap engine. Unused when SOLANA_RPC_URLS names another chain. */
  readonly referralAccount: string
}

/** Known once the dependencies of the service have started. */
export interface StartedDependencies extends ChainFacts {
  readonly databaseUrl: string
  readonly redisUrl: string
  readonly secrets: Secrets
}

/**
 * The settings that the stack adds to the environment of its processes: addresses of its parts, its secrets, and defaults
 * for development. Without WALLET_KEK, which only the provisioner and the custodian get.
 */
export function processSettings(
  env: NodeJS.ProcessEnv,
  settings: StackSettings,
  { databaseUrl, redisUrl, secrets, ...chain }: StartedDependencies,
): Record<string, string> {
  const given = (name: string): string | undefined => (env[name]?.trim() === '' ? undefined : env[name])
  const pepper = given('OTP_PEPPER') ?? secrets.otpPepper
  const key = given('DATA_KEY') ?? (pepper.includes(',') ? undefined : dataKeyOf(pepper))
  const { treasuryWallet, fiatpayKey, payoutKey, publicUrl } = sharedSettings(settings, secrets)
  return {
    ...outsideSettings(settings, chain),
    FIATPAY_SECRET_KEY: fiatpayKey,
    PAYOUT_SECRET_KEY: payoutKey,
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    TREASURY_WALLET: treasuryWallet,
    PUBLIC_URL: publicUrl,
    // Some of our e-mails ask for a reply, so this is not a no-reply address.
    MAIL_FROM: given('MAIL_FROM') ?? `${serviceName} <support@tips.example>`,
    OTP_PEPPER: pepper,
    // The key that is made without the setting. Given, it spares those who need only this one the pepper.
    ...(key === undefined ? {} : { DATA_KEY: key }),
    // What is tried by hand is what the contract says. Production has `recommended`.
    GUARDS: given('GUARDS') ?? 'contract',
    RATE_LIMIT_FACTOR: given('RATE_LIMIT_FACTOR') ?? '20',
    // The bank stand-in returns nothing unasked, so that a sweep need not wait for it.
    SWEEP_AFTER_HOURS: given('SWEEP_AFTER_HOURS') ?? '0',
    LOG_LEVEL: given('LOG_LEVEL') ?? 'warn',
  }
}

const dataKeyOf = (pepper: string): string => deriveDataKey(Buffer.from(pepper, 'base64')).toString('base64')

/**
 * The addresses of the chain, prices, swap engines, mail server, fiat provider and exchange rates: the stand-ins, except
 * where SOLANA_RPC_URLS, SMTP_URL, FIATPAY_URL or RATE_URL name a real one.
 */
function outsideSettings(
  settings: StackSettings,
  { genesisHash, referralAccount }: ChainFacts,
): Record<string, string> {
  const url = standInsUrl(settings)
  const ownMail = { SMTP_URL: `smtp://127.0.0.1:${settings.SMTP_PORT}` }
  const ownChain = {
    SOLANA_RPC_URLS: url,
    PRICE_URL: `${url}/price/v3`,
    AGGREGATOR_ULTRA_URL: `${url}/ultra/v1`,
    AGGREGATOR_V6_URL: `${url}/swap/v1`,
    AGGREGATOR_REFERRAL_ACCOUNT: referralAccount,
  }
  return {
    ...(settings.SMTP_URL === undefined ? ownMail : {}),
    ...(settings.SOLANA_RPC_URLS === undefined ? ownChain : {}),
    SOLANA_GENESIS_HASH: genesisHash,
    FIATPAY_URL: settings.FIATPAY_URL ?? `${url}/fiatpay`,
    RATE_URL: settings.RATE_URL ?? `${url}/rates/USD`,
  }
}
