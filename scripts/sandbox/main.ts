import { fstatSync } from 'node:fs'
import { z } from 'zod'
import { startSandbox } from './server.js'

const { env } = process

const port = z.coerce.number().int().min(0).max(65_534)
/** A setting that is not given, or empty, has its default. */
const withDefault = <Form extends z.ZodType>(fallback: number | 'off' | undefined, form: Form) =>
  z.preprocess((text) => text || fallback, form)
const inTest = env['MODE'] === 'test'
const settings = z.object({
  SANDBOX_PORT: withDefault(8899, port),
  // A test deployment has a mail server of its own, because its creators sign in with mailed codes.
  SMTP_PORT: withDefault(inTest ? 'off' : 2525, z.literal('off').or(port)),
  CHECKOUT_URL: withDefault(undefined, z.url({ protocol: /^https?$/ }).optional()),
})

async function main(): Promise<void> {
  if (env['NODE_ENV'] === 'production' && !inTest)
    throw new Error('The sandbox gives away money. With NODE_ENV=production it runs only with MODE=test.')
  // Of two keys the service calls with the first.
  const fiatpayKey = env['FIATPAY_SECRET_KEY']?.split(',')[0]
  const { SANDBOX_PORT, SMTP_PORT, CHECKOUT_URL } = settings.parse(env)
  const sandbox = await startSandbox({
    port: SANDBOX_PORT,
    smtpPort: SMTP_PORT,
    fiatpayFees: true,
    slotMs: 400,
    ...(env['DATA_DIR'] ? { dataDir: env['DATA_DIR'] } : {}),
    ...(env['TREASURY_WALLET'] ? { treasury: env['TREASURY_WALLET'] } : {}),
    ...(fiatpayKey ? { fiatpayKey } : {}),
    ...(env['PAYOUT_SECRET_KEY'] ? { payoutKey: env['PAYOUT_SECRET_KEY'] } : {}),
    ...(CHECKOUT_URL ? { checkoutUrl: CHECKOUT_URL } : {}),
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
