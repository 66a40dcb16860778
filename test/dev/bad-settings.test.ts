import { existsSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { checkStackSettings } from '../../scripts/dev/check-settings.js'
import { serviceSettings } from '../../scripts/kit/service-settings.js'
import { ConfigError } from '../../src/platform/config/read-settings.js'
import { spawnOpsScript } from '../helpers/run-ops-script.js'
import { temporaryFolder } from '../helpers/temporary-folder.js'

/** The settings that the error message names. */
function faultsOf(t: ExecutionContext, env: NodeJS.ProcessEnv): string[] {
  const error = t.throws(() => checkStackSettings(env), { instanceOf: ConfigError })
  return (error?.faults ?? []).map(({ setting }) => setting).sort()
}

test('the stack has a default for every setting', (t) => {
  t.is(checkStackSettings({ PORT: ' ', LOG_LEVEL: '', WALLET_KEK: ' ' }).PORT, 3000)
})

test('one error names every bad setting of the stack and of its processes', (t) => {
  const bad = {
    PORT: 'abc',
    PG_PORT: '70000',
    RATE_LIMIT_FACTOR: '-1',
    LOG_LEVEL: 'loud',
    REDIS_URL: 'http://x',
    DATABASE_URL: 'foo',
    PUBLIC_URL: 'x',
    WALLET_KEK: 'abc',
    MAIL_FROM: 'nobody',
    SMTP_URL: 'http://x',
    OPS_PORT: '9000',
    OPS_USER: 'a:b',
    OPS_PASSWORD: 'short',
    TREASURY_WALLET: '0',
    OTP_PEPPER: 'x',
    FIATPAY_URL: 'x',
    RATE_URL: 'x',
  }
  const { OPS_PORT, ...named } = bad
  t.deepEqual(faultsOf(t, bad), Object.keys(named).sort())
  t.deepEqual(faultsOf(t, { OPS_PORT: 'x', OPS_USER: 'olu' }), ['OPS_PASSWORD', 'OPS_PORT'])
  // A setting that the stand-ins replace is not read. With SOLANA_RPC_URLS it is.
  t.notThrows(() => checkStackSettings({ PRICE_URL: 'x', SOLANA_GENESIS_HASH: '0' }))
  const chain = { SOLANA_RPC_URLS: 'http://x,y', PRICE_URL: 'x', SOLANA_GENESIS_HASH: '0' }
  t.deepEqual(faultsOf(t, chain), ['PRICE_URL', 'SOLANA_GENESIS_HASH', 'SOLANA_RPC_URLS.1'])
  t.deepEqual(faultsOf(t, { SOLANA_RPC_URLS: 'http://x' }), ['PRICE_URL'])
})

test('the stack refuses NODE_ENV=production', (t) => {
  t.deepEqual(faultsOf(t, { NODE_ENV: 'production' }), ['NODE_ENV'])
})

test('bad settings stop npm run dev before it starts anything', async (t) => {
  const folder = join(temporaryFolder(t), 'data')
  const env = { DATA_DIR: folder, LOG_LEVEL: 'loud', WALLET_KEK: 'abc' }
  const { code, out, err } = await spawnOpsScript({ env }, 'scripts/dev')
  t.is(code, 1)
  t.is(out, '')
  t.regex(err, /^The settings are not usable:\n {2}LOG_LEVEL: [^\n]+\n {2}WALLET_KEK: [^\n]+\n$/)
  t.false(existsSync(folder))
})

const common = 'MAIL_FROM: .+\\n {2}RATE_LIMIT_FACTOR: .+\\n'
const runs: [script: string, args: string[], faults: string][] = [
  ['workers/main', ['verifier'], common],
  ['workers/main', ['all'], `${common} {2}WALLET_KEK: .+\\n {2}SMTP_URL: .+\\n`],
  ['migrate', [], 'DATABASE_URL: .+\\n'],
]

for (const [script, args, faults] of runs)
  test(`bad settings end ${[script, ...args].join(' ')} with one message and no stack`, async (t) => {
    const ground = serviceSettings({
      databaseUrl: 'postgres://127.0.0.1:1/x',
      redisUrl: 'redis://127.0.0.1:1',
    })
    const env = { ...ground, RATE_LIMIT_FACTOR: '-1', MAIL_FROM: 'nobody' }
    const { code, out, err } = await spawnOpsScript({ env: script === 'migrate' ? {} : env }, script, ...args)
    t.deepEqual([code, out], [1, ''])
    t.regex(err, new RegExp(`^The settings are not usable:\\n {2}${faults}$`))
  })
