import { priceKeyOf } from '../../../../src/platform/config/config.js'
import { loadMail } from '../../../../src/platform/config/own-settings.js'
import { readSettings } from '../../../../src/platform/config/read-settings.js'
import { settings } from '../../../../src/platform/config/settings.js'

const read = settings
  .pick({
    SOLANA_RPC_URLS: true,
    SOLANA_GENESIS_HASH: true,
    TREASURY_WALLET: true,
    PRICE_URL: true,
    FIATPAY_URL: true,
    FIATPAY_SECRET_KEY: true,
    PAYOUT_SECRET_KEY: true,
    RATE_URL: true,
    SECOND_RATE_URL: true,
    AGGREGATOR_ULTRA_URL: true,
    AGGREGATOR_V6_URL: true,
    AGGREGATOR_API_KEY: true,
    AGGREGATOR_REFERRAL_ACCOUNT: true,
  })
  .partial()

/** Where the providers are, and the keys for them. Whatever is missing is not asked. */
export type Asked = ReturnType<typeof loadAsked>

/** Throws ConfigError for a setting that is faulty. */
export function loadAsked(env: NodeJS.ProcessEnv) {
  const s = readSettings(read, env)
  return {
    rpcUrls: s.SOLANA_RPC_URLS ?? [],
    genesisHash: s.SOLANA_GENESIS_HASH,
    treasuryWallet: s.TREASURY_WALLET,
    prices: { url: s.PRICE_URL, apiKey: priceKeyOf(s) },
    fiatpay: {
      url: s.FIATPAY_URL,
      secretKey: s.FIATPAY_SECRET_KEY?.[0],
      payoutKey: s.PAYOUT_SECRET_KEY ?? s.FIATPAY_SECRET_KEY?.[0],
    },
    rates: { RATE_URL: s.RATE_URL, SECOND_RATE_URL: s.SECOND_RATE_URL },
    swaps: {
      ultraUrl: s.AGGREGATOR_ULTRA_URL,
      v6Url: s.AGGREGATOR_V6_URL,
      apiKey: s.AGGREGATOR_API_KEY,
      referralAccount: s.AGGREGATOR_REFERRAL_ACCOUNT,
    },
    mail: env['SMTP_URL']?.trim() ? loadMail(env) : undefined,
  }
}
