import { randomBytes } from 'node:crypto'
import type { FiatSandbox } from '../sandbox/fiat-sandbox.js'

const nowhere = 'http://127.0.0.1:1'
const pepper = randomBytes(32).toString('base64')
/** Any wallet. There are no crypto tips in these runs. */
const treasury = 'DRpbCBMxVnDK7maPM5tGv6MvB3v1sRMC86PZ8okm21hy'

/** The settings of a service that only pays out, with short waiting times for the provider. */
export function serviceSettings(
  { databaseUrl, redisUrl, namespace }: { databaseUrl: string; redisUrl: string; namespace: string },
  { env }: Pick<FiatSandbox, 'env'>,
  port: number,
  deduplicates: boolean,
): Record<string, string> {
  return {
    ...env,
    PORT: String(port),
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    REDIS_NAMESPACE: namespace,
    SOLANA_RPC_URLS: nowhere,
    PRICE_URL: `${nowhere}/price/v3`,
    TREASURY_WALLET: treasury,
    OTP_PEPPER: pepper,
    GUARDS: 'contract',
    CONFIRM_ACCOUNTS: 'new',
    LOG_LEVEL: 'info',
    RATE_LIMIT_FACTOR: '0',
    DRAIN_SECONDS: '0',
    STOP_WITH_STDIN: '1',
    FIATPAY_DEDUPLICATES: deduplicates ? '1' : '0',
    PAYOUT_TIMEOUT_MS: '400',
    PAYOUT_LOOK_SECONDS: '0.1',
    PAYOUT_SETTLE_SECONDS: '2',
    WITHDRAW_WAIT_MS: '500',
    IDENTITY_SINGLE_NGN: '1000000000',
    IDENTITY_DAILY_NGN: '1000000000',
  }
}
