import { fstatSync } from 'node:fs'
import { startSandbox } from './server.js'

const { env } = process

/** Reads a whole number from the environment. Throws for anything else. */
function setting(name: string, fallback: number, max: number): number {
  const text = env[name] ?? ''
  if (text === '') return fallback
  const value = Number(text)
  if (!Number.isInteger(value) || value < 0 || value > max)
    throw new Error(`${name}: expected 0 to ${max}, got ${text}`)
  return value
}

async function main(): Promise<void> {
  if (env['NODE_ENV'] === 'production')
    throw new Error('The sandbox gives away money. It does not run with NODE_ENV=production.')
  // Of two keys the service calls with the first.
  const fiatpayKey = env['FIATPAY_SECRET_KEY']?.split(',')[0]
  const sandbox = await startSandbox({
    port: setting('SANDBOX_PORT', 8899, 65_534),
    smtpPort: setting('SMTP_PORT', 2525, 65_535),
    fiatpayFees: true,
    slotMs: 400,
    ...(env['DATA_DIR'] ? { dataDir: env['DATA_DIR'] } : {}),
    ...(env['TREASURY_WALLET'] ? { treasury: env['TREASURY_WALLET'] } : {}),
    ...(fiatpayKey ? { fiatpayKey } : {}),
    ...(env['PAYOUT_SECRET_KEY'] ? { payoutKey: env['PAYOUT_SECRET_KEY'] } : {}),
    ...(env['PUBLIC_URL'] ? { webhookUrl: new URL('/webhooks/fiatpay', env['PUBLIC_URL']).href } : {}),
  })
  process.stdout.write(`sandbox ready ${sandbox.url}\n`)

  let stopping = false
  const stop = () => {
    if (stopping) return
    stopping = true
    process.stdin.destroy()
    void sandbox.close()
  }
  process.once('SIGTERM', stop)
  process.once('SIGINT', stop)
  // When stdin is a pipe, its end means that the parent process has died.
  if (fstatSync(0).isFIFO() || fstatSync(0).isSocket()) {
    process.stdin.resume()
    process.stdin.once('end', stop)
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`sandbox: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
})
