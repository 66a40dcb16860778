import { randomBytes } from 'node:crypto'
import { solMint } from '../../src/kernel/tokens.js'
import type { ServerUrls } from './servers.js'

/** An address without a server. */
const nowhere = 'http://127.0.0.1:1'
/** One for all processes of a run: data are sealed with it. */
const pepper = randomBytes(32).toString('base64')

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

/** The settings of a service that reaches only PostgreSQL and Redis, without limits. It logs only warnings. */
export function serviceSettings({
  databaseUrl,
  redisUrl,
  namespace,
}: Pick<ServerUrls, 'databaseUrl' | 'redisUrl'> & Partial<ServerUrls>): Record<string, string> {
  return {
    DATABASE_URL: databaseUrl,
    REDIS_URL: namespace === undefined ? redisUrl : redisUrlWith(redisUrl, { namespace }),
    SOLANA_RPC_URLS: nowhere,
    PRICE_URL: `${nowhere}/price/v3`,
    FIATPAY_URL: nowhere,
    FIATPAY_SECRET_KEY: 'sk_test_bench',
    RATE_URL: nowhere,
    TREASURY_WALLET: solMint,
    OTP_PEPPER: pepper,
    GUARDS: 'contract',
    CONFIRM_ACCOUNTS: 'new',
    LOG_LEVEL: 'warn',
    RATE_LIMIT_FACTOR: '0',
    NODE_OPTIONS: stopWithStdin,
    IDENTITY_SINGLE_NGN: '1000000000',
    IDENTITY_DAILY_NGN: '1000000000',
  }
}
