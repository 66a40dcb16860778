import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import test from 'ava'
import { startFiatSandbox } from '../../scripts/sandbox/fiat-sandbox.js'
import { compose, composePayoutSender, composeRefunds } from '../../src/compose.js'
import { loadConfig } from '../../src/platform/config/config.js'
import {
  allSecrets,
  optionalSecrets,
  type ProcessKind,
  requiredSecrets,
  secretsOf,
  withoutOtherSecrets,
} from '../../src/platform/config/process-secrets.js'
import { ConfigError } from '../../src/platform/config/read-settings.js'
import { checkSettings, type SettingsReader } from '../../src/platform/config/start-settings.js'
import { type ProcessName, processNames, settingsReaders } from '../../workers/registry.js'
import { runOpsScript, spawnOpsScript } from '../helpers/run-ops-script.js'
import { startWeb, startWorkerProcess } from '../helpers/servers/service-process.js'
import { useWorld } from '../helpers/servers/world.js'

const world = useWorld(test)

type Environment = Record<string, string>

/** The settings that are not secret. */
function openSettings(): Environment {
  const all = { ...world().env, MAIL_FROM: 'Tips <support@tips.example>', OPS_PORT: '0' }
  return withoutOtherSecrets(all, []) as Environment
}

/** A database takes one. */
const dataKey = randomBytes(32).toString('base64')

/** A value for each secret. None stands in for another. */
function allValues(): Environment {
  const { env } = world()
  return {
    ...Object.fromEntries(allSecrets.map((secret) => [secret, env[secret] ?? 'a value'])),
    DATA_KEY: dataKey,
    REPORT_SIGNING_KEY: randomBytes(32).toString('base64'),
    SECOND_RATE_URL: 'http://127.0.0.1:1/second',
    SMTP_URL: 'smtp://127.0.0.1:1',
    OPS_PASSWORD: 'a long password for tests',
  }
}

/** The secrets of this process, and values for those of all others that nobody could use. */
function ownSecrets(kind: ProcessKind): Environment {
  const own = withoutOtherSecrets(allValues(), secretsOf[kind]) as Environment
  return { ...Object.fromEntries(allSecrets.map((secret) => [secret, '!'])), ...own }
}

/** Every secret without which the process must not start. */
const demanded = (kind: ProcessKind): string[] => [...requiredSecrets({}, secretsOf[kind])].sort()

/** The settings that the message of a refused start calls missing. */
const missingIn = (text: string): string[] =>
  [...text.matchAll(/^ {2}(\w+): is missing$/gm)].map(([, name = '']) => name).sort()

test('every process has a line in the list of secrets', (t) => {
  const commands = readdirSync('scripts/ops', { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.startsWith('support'))
    // A subject that does nothing itself has those of its verbs.
    .filter((file) => file === 'outgoing.ts' || !existsSync(`scripts/ops/${file.replace(/[.]ts$/, '')}`))
    .map((file) => `ops ${basename(file, '.ts')}`)
  t.deepEqual(Object.keys(secretsOf).sort(), ['web', ...processNames, ...commands].sort())
  const used = new Set(Object.values(secretsOf).flat())
  t.deepEqual([...allSecrets].sort(), [...used].sort())
  t.false(optionalSecrets.some((secret) => demanded('web').includes(secret)))
})

test('docs/keys.md says of each secret which process reads it', (t) => {
  const rows = readFileSync('docs/keys.md', 'utf8').matchAll(/^\| `(\w+)` \| [^|]* \| ([a-z, -]+) \|$/gm)
  const kinds = ['web', ...processNames] as const
  const readers = (secret: string) => kinds.filter((kind) => secretsOf[kind].some((name) => name === secret))
  t.deepEqual(
    [...rows].map(([, secret, listed = '']) => [
      secret,
      listed === 'every process' ? kinds : listed.split(', '),
    ]),
    allSecrets.map((secret) => [secret, readers(secret)]),
  )
})

for (const kind of ['web', ...processNames] as const)
  test(`${kind} starts with exactly its secrets, and names each that is missing`, async (t) => {
    const env = { ...openSettings(), ...ownSecrets(kind) }
    await (kind === 'web' ? startWeb(t, env) : startWorkerProcess(t, kind, env))
    // test/dev/bad-settings.test.ts runs a worker's program that is refused.
    const refused = t.throws(() => check(kind), { instanceOf: ConfigError })
    t.deepEqual(missingIn(refused?.message ?? ''), demanded(kind))
  })

/** As the program of the process does, without any secret. */
function check(kind: 'web' | ProcessName): void {
  const readers: readonly SettingsReader[] =
    kind === 'web' ? [(env) => loadConfig(env, secretsOf.web)] : settingsReaders([kind])
  checkSettings(readers, openSettings())
}

test('a web process without its secrets ends with a message that names each', async (t) => {
  const { code, err } = await spawnOpsScript({ env: openSettings() }, 'src/web')
  t.is(code, 1)
  t.deepEqual(missingIn(err), demanded('web'))
})

test('with two keys only the processes that pay can send money', async (t) => {
  const sandbox = await startFiatSandbox({ payoutKey: 'sk_test_pays' })
  t.teardown(sandbox.close)
  const env = { ...world().env, ...sandbox.env, DATA_KEY: randomBytes(32).toString('base64') }
  const account = { bankCode: '044', accountNumber: '0123456789', accountName: 'ADA OBI' }
  const configOf = (kind: ProcessKind) => loadConfig(env, secretsOf[kind])
  await t.notThrowsAsync(composePayoutSender(configOf('payouts')).createRecipient(account))
  const refund = { transaction: '1', kobo: 100n, note: 'a note' }
  const known = await t.throwsAsync(composeRefunds(configOf('ops suspense')).request(refund))
  t.like(known, { kind: 'rejected' }, 'there is no such payment')
  for (const kind of ['web', 'settlement', 'reconciler', 'clock', 'ops payouts'] as const) {
    const config = configOf(kind)
    await t.throwsAsync(composePayoutSender(config).createRecipient(account), { message: /401/ }, kind)
    await t.throwsAsync(composeRefunds(config).request(refund), { message: /401/ }, kind)
  }
  for (const kind of ['verifier', 'finder', 'provisioner', 'mailer'] as const)
    t.throws(() => composePayoutSender(configOf(kind)), { message: /does not read PAYOUT_SECRET_KEY/ })
  const mailer = compose(configOf('mailer'), 'test')
  t.teardown(() => mailer.close())
  t.throws(() => mailer.payouts.listBanks(), { message: /does not read FIATPAY_SECRET_KEY/ })
  t.throws(() => mailer.config.otpPeppers, { message: /does not read OTP_PEPPER/ })
})

/** Arguments with which a command gets as far as reading its settings. */
const argumentsOf: Readonly<Record<string, readonly string[]>> = {
  collections: ['adopt', `fiatpay-${'0'.repeat(32)}`],
  disputes: ['7'],
  'forget-payer': ['--email', 'ada@example.com'],
  'link-handle': ['--user', 'ada@example.com', '--twitter', 'ada'],
  outgoing: ['list'],
  payouts: ['list'],
  refunds: ['--retry', 'refund_00000000000000000000000000000000'],
  reserves: ['--make'],
  suspense: ['--refund', '1'],
  trace: ['nobody@example.com'],
  work: ['list'],
}

test.serial('each operators’ command reads its secrets alone, and names each missing one', async (t) => {
  const run = (kind: ProcessKind, secrets: Environment) => {
    for (const secret of allSecrets) delete process.env[secret]
    const name = kind.slice('ops '.length)
    const args = argumentsOf[name] ?? []
    // Without DATABASE_URL a command looks for the stack of this clone.
    const env = { ...openSettings(), DATABASE_URL: world().env['DATABASE_URL'] ?? '', ...secrets }
    return runOpsScript({ env }, name, ...args)
  }
  const commands = Object.keys(secretsOf).filter((name) => name.startsWith('ops '))
  // These two read what is set (test/ops/doctor.test.ts, conformance.test.ts).
  const requireNothing = ['ops doctor', 'ops conformance']
  for (const kind of commands.filter((name) => !requireNothing.includes(name)) as ProcessKind[]) {
    const without = await run(kind, {})
    const others = demanded(kind).filter((secret) => secret !== 'DATABASE_URL')
    t.deepEqual(missingIn(without.err), others, `${kind}: ${without.err}`)
    const { err } = await run(kind, ownSecrets(kind))
    t.notRegex(err, /The settings are not usable|does not read/, kind)
  }
})
