import { z } from 'zod'
import { readSettings } from '../../src/platform/config/read-settings.js'
import { url } from '../../src/platform/config/setting-forms.js'
import type { Port } from './ports.js'

const port = z.coerce.number().int().min(1).max(65_534)
const maxWebProcesses = 16
const notInProduction =
  'must not be production: npm run dev replaces the payment providers by local stand-ins'

/** The settings of the development stack itself. All others are passed to the processes unchanged. */
const settings = z.object({
  NODE_ENV: z
    .string()
    .refine((text) => text !== 'production', notInProduction)
    .optional(),
  PORT: port.default(3000),
  PUBLIC_URL: z.string().optional(),
  WEB_PROCESSES: z.coerce.number().int().min(1).max(maxWebProcesses).default(2),
  DATA_DIR: z.string().default('.data'),
  DATABASE_URL: z.string().optional(),
  PG_PORT: port.default(54_329),
  REDIS_URL: z.string().optional(),
  REDIS_PORT: port.default(63_799),
  SOLANA_RPC_URLS: z.string().optional(),
  SOLANA_GENESIS_HASH: z.string().optional(),
  SMTP_URL: z.string().optional(),
  FIATPAY_URL: z.string().optional(),
  FIATPAY_SECRET_KEY: z.string().optional(),
  PAYOUT_SECRET_KEY: z.string().optional(),
  RATE_URL: z.string().optional(),
  SANDBOX_PORT: port.default(8899),
  SMTP_PORT: port.default(2525),
  TREASURY_WALLET: z.string().optional(),
  CHECKOUT_URL: url.optional(),
  OPS_PORT: port.optional(),
  METRICS_PORT: port.optional(),
})

export type StackSettings = z.output<typeof settings>

/** Reads the settings. An empty or blank value counts as absent. Throws ConfigError with every fault. */
export function stackSettings(env: NodeJS.ProcessEnv): StackSettings {
  return readSettings(settings, env)
}

/** Whether any provider is replaced by a stand-in. */
export function needsStandIns({ SOLANA_RPC_URLS, SMTP_URL, FIATPAY_URL, RATE_URL }: StackSettings): boolean {
  return [SOLANA_RPC_URLS, SMTP_URL, FIATPAY_URL, RATE_URL].includes(undefined)
}

/** Address of the stand-ins. */
export function standInsUrl({ SANDBOX_PORT }: StackSettings): string {
  return `http://127.0.0.1:${SANDBOX_PORT}`
}

/** Every port that the stack will listen on. */
export function stackPorts(settings: StackSettings): Port[] {
  const { PORT, PG_PORT, REDIS_PORT, SANDBOX_PORT, SMTP_PORT } = settings
  const web = webPorts(settings).map((port) => ({
    setting: port === PORT ? 'PORT' : 'PORT or WEB_PROCESSES',
    port,
  }))
  return [
    ...web,
    ...(settings.DATABASE_URL === undefined ? [{ setting: 'PG_PORT', port: PG_PORT }] : []),
    ...(settings.REDIS_URL === undefined ? [{ setting: 'REDIS_PORT', port: REDIS_PORT }] : []),
    ...(settings.METRICS_PORT === undefined
      ? []
      : web.map((_, index) => ({ setting: 'METRICS_PORT', port: Number(settings.METRICS_PORT) + index }))),
    ...(settings.OPS_PORT === undefined ? [] : [{ setting: 'OPS_PORT', port: settings.OPS_PORT }]),
    // The stand-in chain serves its WebSocket on the next port, as Solana's validator does.
    ...(needsStandIns(settings)
      ? [
          ...[SANDBOX_PORT, SANDBOX_PORT + 1].map((port) => ({ setting: 'SANDBOX_PORT', port })),
          { setting: 'SMTP_PORT', port: SMTP_PORT },
        ]
      : []),
  ]
}

/** `PORT` and the ones above it, one for each web process. */
export function webPorts({ PORT, WEB_PROCESSES }: StackSettings): number[] {
  return Array.from({ length: WEB_PROCESSES }, (_, index) => PORT + index)
}
