import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stackSecrets } from './secrets.js'
import { type Service, startServices } from './services.js'
import { type StackContext, startDatabase, startOutside, startRedis } from './support.js'

const privateFile = 0o600

/** Starts everything in its order. Resolves, when all of it is ready, with the table of addresses as text. */
export async function startStack(context: StackContext): Promise<string> {
  const { settings } = context
  const secrets = stackSecrets(settings.DATA_DIR)
  const treasury = settings.TREASURY_WALLET ?? secrets.treasuryWallet
  const publicUrl = settings.PUBLIC_URL ?? `http://localhost:${settings.PORT}`
  const fiatpayKey = settings.FIATPAY_SECRET_KEY ?? secrets.fiatpayKey
  const [databaseUrl, redisUrl, outside] = await Promise.all([
    startDatabase(context),
    startRedis(context),
    startOutside(context, { treasuryWallet: treasury, fiatpayKey, publicUrl }),
  ])
  const { WALLET_KEK: walletKek, ...env } = process.env
  const found = {
    ...outside,
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    TREASURY_WALLET: treasury,
    PUBLIC_URL: publicUrl,
    MAIL_FROM: settings.MAIL_FROM,
    OTP_PEPPER: env['OTP_PEPPER'] || secrets.otpPepper,
    RATE_LIMIT_FACTOR: env['RATE_LIMIT_FACTOR'] || '20',
    LOG_LEVEL: env['LOG_LEVEL'] || 'warn',
  }
  writeSettings(join(settings.DATA_DIR, 'settings.env'), found)
  const services = await startServices(context, { ...env, ...found }, walletKek || secrets.walletKek)
  return table(context, services, found)
}

/** For the demo and the operators' scripts, which are told nothing but the data folder. */
function writeSettings(file: string, settings: Record<string, string>): void {
  const lines = Object.entries(settings).map(([name, value]) => `${name}="${value}"\n`)
  writeFileSync(file, lines.join(''), { mode: privateFile })
}

function table(
  { settings }: StackContext,
  services: readonly Service[],
  found: Record<string, string>,
): string {
  const rows = [
    ...services.map(({ name, url }) => [name, name.startsWith('web') ? url : `${url}/metrics`]),
    ['dashboard', `${found['PUBLIC_URL']}/dashboard`],
    ['manual', `${found['PUBLIC_URL']}/docs`],
    ...(settings.OPS_PORT === undefined ? [] : [['operators', `http://localhost:${settings.OPS_PORT}/ops`]]),
    ['chain', found['SOLANA_RPC_URLS'] ?? settings.SOLANA_RPC_URLS ?? ''],
    [
      'mail',
      settings.SMTP_URL === undefined
        ? `http://localhost:${settings.SANDBOX_PORT}/dev/mail/view`
        : 'SMTP_URL',
    ],
    ['fiatpay', found['FIATPAY_URL'] ?? ''],
    ['postgres', withoutPassword(found['DATABASE_URL'] ?? '')],
    ['redis', withoutPassword(found['REDIS_URL'] ?? '')],
    ['treasury', found['TREASURY_WALLET'] ?? ''],
    ['data', settings.DATA_DIR],
  ]
  const width = Math.max(...rows.map(([name = '']) => name.length))
  return rows.map(([name = '', value]) => `  ${name.padEnd(width)}  ${value}\n`).join('')
}

function withoutPassword(url: string): string {
  return url.replace(/:[^:@/]+@/, '@')
}
