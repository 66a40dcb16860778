import { createPrivateKey, createPublicKey } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import test from 'ava'
import { Refusal } from '../../scripts/bootstrap/progress.mjs'
import { contractEnvironment } from '../../scripts/contract/contract-stack.js'
import { assertPortsFree } from '../../scripts/dev/ports.js'
import { processSettings } from '../../scripts/dev/process-settings.js'
import { loadOrCreateSecrets } from '../../scripts/dev/secrets.js'
import { workersInProcfile } from '../../scripts/dev/service-processes.js'
import { stackPorts, stackSettings } from '../../scripts/dev/settings.js'
import { serviceSettings } from '../../scripts/kit/service-settings.js'
import { decodeBase58 } from '../../src/kernel/base58.js'
import { loadConfig } from '../../src/platform/config/config.js'
import { temporaryFolder } from '../helpers/temporary-folder.js'

test('the stack needs no ports for a PostgreSQL, Redis or providers that the settings name', (t) => {
  const all = stackPorts(stackSettings({ PORT: '4000', WEB_PROCESSES: '3' })).map(({ port }) => port)
  t.deepEqual(all, [4000, 4001, 4002, 54_329, 63_799, 8899, 8900, 2525])
  const outside = {
    SOLANA_RPC_URLS: 'http://x',
    SMTP_URL: 'smtp://x',
    FIATPAY_URL: 'http://x',
    RATE_URL: 'http://x',
  }
  const given = { DATABASE_URL: 'postgres://x', REDIS_URL: 'redis://x', ...outside }
  t.deepEqual(
    stackPorts(stackSettings({ ...given, PORT: '4000' })).map(({ port }) => port),
    [4000, 4001],
  )
})

test('the default sender of e-mails accepts replies, and the default key of personal data is the one made from the pepper', (t) => {
  const secrets = loadOrCreateSecrets(temporaryFolder(t))
  const chain = { genesisHash: '', referralAccount: '' }
  const started = { databaseUrl: '', redisUrl: '', secrets, ...chain }
  const sender = (env: NodeJS.ProcessEnv) => processSettings(env, stackSettings(env), started)['MAIL_FROM']
  t.regex(sender({}) ?? '', /^Tips <support@/)
  t.is(sender({ MAIL_FROM: 'Ada <ada@tips.example>' }), 'Ada <ada@tips.example>')
  // What was sealed before the stack set DATA_KEY still opens.
  const { OTP_PEPPER = '', DATA_KEY = '' } = processSettings({}, stackSettings({}), started)
  const ground = serviceSettings({ databaseUrl: 'postgres://127.0.0.1/x', redisUrl: 'redis://127.0.0.1' })
  t.is(loadConfig({ ...ground, OTP_PEPPER }).dataKeys.given[0].toString('base64'), DATA_KEY)
})

test('a port in use is refused with the name of the setting that changes it', async (t) => {
  const server = createServer().listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await t.throwsAsync(assertPortsFree([{ setting: 'REDIS_PORT', port }], false), {
    instanceOf: Refusal,
    message: new RegExp(`^in use: port ${port} \\(REDIS_PORT\\);`),
  })
})

test('the stack starts the workers that the Procfile names', (t) => {
  const procfile =
    'release: npm run migrate\nweb: npm start\nverifier: node dist/workers/main.js verifier\nclock: node dist/workers/main.js clock\n'
  t.deepEqual(workersInProcfile(procfile), [['verifier'], ['clock']])
  t.true(workersInProcfile(readFileSync('Procfile', 'utf8')).flat().includes('provisioner'))
})

test("the contract's stack gets no setting that the shell exports", (t) => {
  const exported = {
    DATABASE_URL: 'postgres://production',
    REDIS_URL: 'redis://production',
    PGHOST: 'production',
    FIATPAY_SECRET_KEY: 'sk_live',
    OPS_PORT: '4999',
  }
  t.deepEqual(contractEnvironment({ ...exported, PATH: '/bin', HOME: '/root' }), {
    PATH: '/bin',
    HOME: '/root',
  })
  // Its own Redis is installed also when the shell names another one.
  t.regex(readFileSync('scripts/bootstrap.mjs', 'utf8'), /'test:contract': \{ redis: true,/)
})

const pkcs8Ed25519 = Buffer.from('302e020100300506032b657004220420', 'hex')

test('the secrets of a stack are created once, in files that only their owner can read', (t) => {
  const folder = temporaryFolder(t)
  const made = loadOrCreateSecrets(folder)
  t.is(Buffer.from(made.walletKek, 'base64').length, 32)
  t.not(made.walletKek, made.otpPepper)
  t.regex(made.fiatpayKey, /^sk_test_[0-9a-f]{64}$/)
  t.not(made.payoutKey, made.fiatpayKey)
  t.deepEqual(loadOrCreateSecrets(folder), made)
  for (const name of ['secrets.json', 'fiatpay-key.json', 'payout-key.json', 'treasury.json'])
    t.is(statSync(join(folder, name)).mode & 0o777, 0o600, name)
})

test("the treasury's file is a Solana key pair of the treasury wallet", (t) => {
  const folder = temporaryFolder(t)
  const { treasuryWallet } = loadOrCreateSecrets(folder)
  const bytes = Buffer.from(JSON.parse(readFileSync(join(folder, 'treasury.json'), 'utf8')) as number[])
  const seed = Buffer.concat([pkcs8Ed25519, bytes.subarray(0, 32)])
  const { x = '' } = createPublicKey(createPrivateKey({ key: seed, format: 'der', type: 'pkcs8' })).export({
    format: 'jwk',
  })
  t.deepEqual(decodeBase58(treasuryWallet), new Uint8Array(Buffer.from(x, 'base64url')))
})

test('damaged secrets stop the start and are not replaced, since sealed wallets would be lost', (t) => {
  const folder = temporaryFolder(t)
  loadOrCreateSecrets(folder)
  const file = join(folder, 'secrets.json')
  chmodSync(file, 0o600)
  writeFileSync(file, '{"walletKek":')
  t.throws(() => loadOrCreateSecrets(folder), { instanceOf: Refusal, message: /secrets\.json is damaged/ })
  t.is(readFileSync(file, 'utf8'), '{"walletKek":')
})
