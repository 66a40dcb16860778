import { randomBytes } from 'node:crypto'
import type { FiatSandbox } from '../sandbox/fiat-sandbox.js'

const nowhere = 'http://127.0.0.1:1'
const pepper = randomBytes(32).toString('base64')
/** Any wallet. There are no crypto tips in these runs. */
const treasury = 'DRpbCBMxVnDK7maPM5tGv6MvB3v1sRMC86PZ8okm21hy'

/**
 * `NODE_OPTIONS` of a child process: it stops when its stdin ends, and so with its parent, however that ends. One that is starting
 * stops once it listens to SIGTERM.
 */
export const stopWithStdin = `--import=data:text/javascript,${encodeURIComponent(`
  const end = () =>
    process.listenerCount('SIGTERM') > 0 ? process.kill(process.pid, 'SIGTERM') : setTimeout(end, 50).unref()
  process.stdin.on('end', end).on('error', end).resume().unref()`)}`

/** REDIS_URL with these options. */
export function redisUrlWith(redisUrl: string, options: Readonly<Record<string, string>>): string {
  const [address = '', query = ''] = redisUrl.split('?')
  const all = { ...Object.fromEntries(new URLSearchParams(query)), ...options }
  return `${address}?${new URLSearchParams(all)}`
}

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
    REDIS_URL: redisUrlWith(redisUrl, { namespace }),
    SOLANA_RPC_URLS: nowhere,
    PRICE_URL: `${nowhere}/price/v3`,
    TREASURY_WALLET: treasury,
    OTP_PEPPER: pepper,
    GUARDS: 'contract',
    CONFIRM_ACCOUNTS: 'new',
    LOG_LEVEL: 'info',
    RATE_LIMIT_FACTOR: '0',
    NODE_OPTIONS: stopWithStdin,
    FIATPAY_DEDUPLICATES: deduplicates ? '1' : '0',
    PAYOUT_SECONDS: '0.4,0.1,2',
    WITHDRAW_WAIT_MS: '500',
    IDENTITY_SINGLE_NGN: '1000000000',
    IDENTITY_DAILY_NGN: '1000000000',
  }
}
