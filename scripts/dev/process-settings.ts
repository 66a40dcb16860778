import type { Secrets } from './secrets.js'
import { type StackSettings, standInsUrl } from './settings.js'

/** What stand-ins and processes have to agree on. */
export interface Agreed {
  readonly treasuryWallet: string
  readonly fiatpayKey: string
  /** Where the service is reached, for webhooks. */
  readonly publicUrl: string
}

export function agreedSettings(settings: StackSettings, secrets: Secrets): Agreed {
  return {
    treasuryWallet: settings.TREASURY_WALLET ?? secrets.treasuryWallet,
    fiatpayKey: settings.FIATPAY_SECRET_KEY ?? secrets.fiatpayKey,
    publicUrl: settings.PUBLIC_URL ?? `http://localhost:${settings.PORT}`,
  }
}

/** What is known of the chain once it answers. */
export interface ChainFacts {
  readonly genesisHash: string
  /** Account of the stand-ins' swap engine; without meaning where SOLANA_RPC_URLS leads elsewhere. */
  readonly referralAccount: string
}

/** What is known once everything the processes stand on has started. */
export interface Started extends ChainFacts {
  readonly databaseUrl: string
  readonly redisUrl: string
  readonly secrets: Secrets
}

/**
 * The settings the stack gives its processes, over those it was given itself: where its own parts are, its secrets, and
 * what suits development. The key of the wallets is for the provisioner alone and not among them.
 */
export function processSettings(
  env: NodeJS.ProcessEnv,
  settings: StackSettings,
  { databaseUrl, redisUrl, secrets, ...chain }: Started,
): Record<string, string> {
  const given = (name: string): string | undefined => (env[name]?.trim() === '' ? undefined : env[name])
  const { treasuryWallet, fiatpayKey, publicUrl } = agreedSettings(settings, secrets)
  return {
    ...outsideSettings(settings, chain),
    FIATPAY_SECRET_KEY: fiatpayKey,
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    TREASURY_WALLET: treasuryWallet,
    PUBLIC_URL: publicUrl,
    // Our mails ask to be answered, so no address that says it is not read.
    MAIL_FROM: given('MAIL_FROM') ?? 'Tips <support@tips.example>',
    OTP_PEPPER: given('OTP_PEPPER') ?? secrets.otpPepper,
    RATE_LIMIT_FACTOR: given('RATE_LIMIT_FACTOR') ?? '20',
    LOG_LEVEL: given('LOG_LEVEL') ?? 'warn',
  }
}

/**
 * The settings that say where the chain, the prices, the swap engines, the mail server, the fiat provider and the exchange
 * rates are: at the stand-ins, except for what SOLANA_RPC_URLS, SMTP_URL, FIATPAY_URL or RATE_URL give.
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
