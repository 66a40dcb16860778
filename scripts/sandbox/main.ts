import { fstatSync } from 'node:fs'
import { startSandbox } from './server.js'

const { env } = process

/** A whole number from the environment; anything else stops the start. */
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
    throw new Error('The sandbox hands out money: it does not run in production.')
  const sandbox = await startSandbox({
    port: setting('SANDBOX_PORT', 8899, 65_534),
    smtpPort: setting('SMTP_PORT', 2525, 65_535),
    slotMs: setting('SLOT_MS', 400, 60_000),
    ...(env['DATA_DIR'] ? { dataDir: env['DATA_DIR'] } : {}),
    ...(env['TREASURY_WALLET'] ? { treasury: env['TREASURY_WALLET'] } : {}),
    ...(env['FIATPAY_SECRET_KEY'] ? { fiatpayKey: env['FIATPAY_SECRET_KEY'] } : {}),
    ...(env['PUBLIC_URL'] ? { webhookUrl: new URL('/webhooks/fiatpay', env['PUBLIC_URL']).href } : {}),
  })
  process.stdout.write(`sandbox ready ${sandbox.url}\n`)

  let leaving = false
  const leave = () => {
    if (leaving) return
    leaving = true
    process.stdin.destroy()
    void sandbox.close()
  }
  process.once('SIGTERM', leave)
  process.once('SIGINT', leave)
  // Whoever started us holds the other end of stdin: when it dies, so do we. A terminal or file says nothing.
  if (fstatSync(0).isFIFO() || fstatSync(0).isSocket()) {
    process.stdin.resume()
    process.stdin.once('end', leave)
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`sandbox: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
})
