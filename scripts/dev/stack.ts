import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type StackContext, startDatabase, startProviders, startRedis } from './dependencies.js'
import { processSettings, sharedSettings } from './process-settings.js'
import { loadOrCreateSecrets } from './secrets.js'
import { type ServiceProcess, startServiceProcesses } from './service-processes.js'
import { recordStartingFloat } from './starting-float.js'

const privateFile = 0o600

/** Starts the dependencies, then the service. Resolves when all is ready, with the table of addresses as text. */
export async function startStack(context: StackContext): Promise<string> {
  const { settings } = context
  const secrets = loadOrCreateSecrets(settings.DATA_DIR)
  const [databaseUrl, redisUrl, chain] = await Promise.all([
    startDatabase(context),
    startRedis(context),
    startProviders(context, sharedSettings(settings, secrets)),
  ])
  // Before the clock reads the balance, which would differ from the books.
  if (settings.FIATPAY_URL === undefined) await recordStartingFloat(databaseUrl)
  const { WALLET_KEK: walletKek, ...env } = context.env
  const found = processSettings(env, settings, { databaseUrl, redisUrl, secrets, ...chain })
  writeSettings(join(settings.DATA_DIR, 'settings.env'), found)
  const services = await startServiceProcesses(context, {
    ...env,
    ...found,
    WALLET_KEK: walletKek?.trim() ? walletKek : secrets.walletKek,
  })
  return table(context, services, found)
}

/** For the demo and the operators' commands, which find the stack by its data folder. */
function writeSettings(file: string, settings: Record<string, string>): void {
  const lines = Object.entries(settings).map(([name, value]) => `${name}="${value}"\n`)
  writeFileSync(file, lines.join(''), { mode: privateFile })
}

function table(
  { settings }: StackContext,
  services: readonly ServiceProcess[],
  found: Record<string, string>,
): string {
  const rows = [
    ...services.flatMap(({ name, url, metricsUrl }) =>
      name.startsWith('web')
        ? [
            [name, url],
            [`${name} metrics`, metricsUrl],
          ]
        : [[name, metricsUrl]],
    ),
    ['dashboard', `${found['PUBLIC_URL']}/dashboard`],
    ['manual', `${found['PUBLIC_URL']}/docs`],
    ...(settings.OPS_PORT === undefined ? [] : [['operators', `http://localhost:${settings.OPS_PORT}/ops`]]),
    ['chain', found['SOLANA_RPC_URLS'] ?? settings.SOLANA_RPC_URLS ?? ''],
    [
      'mail',
      settings.SMTP_URL === undefined
        ? `http://localhost:${settings.SANDBOX_PORT}/dev/mail/view`
        : 'sent through SMTP_URL',
    ],
    ['fiatpay', found['FIATPAY_URL'] ?? ''],
    ['postgres', withoutPassword(found['DATABASE_URL'] ?? '')],
    ['redis', withoutPassword(found['REDIS_URL'] ?? '')],
    ['treasury', found['TREASURY_WALLET'] ?? ''],
    ['guards', found['GUARDS'] ?? ''],
    ['data', settings.DATA_DIR],
  ]
  const width = Math.max(...rows.map(([name = '']) => name.length))
  return rows.map(([name = '', value]) => `  ${name.padEnd(width)}  ${value}\n`).join('')
}

function withoutPassword(url: string): string {
  return url.replace(/:[^:@/]+@/, '@')
}
