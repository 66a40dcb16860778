import { randomBytes } from 'node:crypto'
import test from 'ava'
import type { Knex } from 'knex'
import { urlOfRole } from '../../scripts/database/roles-sql.js'
import { databaseSetting, deployedProcesses } from '../../scripts/deploy/processes.js'
import { redisUrlWith } from '../../scripts/kit/service-settings.js'
import { checkVaultKey } from '../../src/accounts/wallets/check-vault-key.js'
import { createDb, longTransaction, query } from '../../src/platform/database/database.js'
import { createConfiguredVault } from '../../src/providers/vault/configured-vault.js'
import { runOpsScript } from '../helpers/run-ops-script.js'
import { useWorld } from '../helpers/servers/world.js'

const world = useWorld(test, { chain: true, fiat: true, mail: true })

interface Result {
  readonly code: number
  readonly wrong: number
  /** What is not ok, as `<name>: <text>`. */
  readonly findings: readonly string[]
  readonly ok: readonly string[]
}

/** As behind PgBouncer in transaction mode. */
const pooled = (url: string): string => `${url.replace(/\?.*/, '')}?pgbouncer=true`

/** Runs doctor with these settings, or with the role of operators if `asOperator`. */
async function doctor(
  env: Record<string, string>,
  { asOperator = false, args = [] as string[] } = {},
): Promise<Result> {
  for (const name of ['SECOND_RATE_URL', 'DB_POOL', 'TREASURY_WALLET']) delete process.env[name]
  const name = asOperator ? 'doctor' : 'scripts/ops/doctor'
  const { code, out } = await runOpsScript({ env: { ...world().env, ...env } }, name, '--json', ...args)
  const { wrong, checks } = JSON.parse(out) as {
    wrong: number
    checks: { name: string; state: string; text: string }[]
  }
  return {
    code,
    wrong,
    findings: checks.flatMap(({ name, state, text }) =>
      state === 'ok' || state === 'skipped' ? [] : [`${state} ${name}: ${text}`],
    ),
    ok: checks.flatMap(({ name, state }) => (state === 'ok' ? [name] : [])),
  }
}

/** The servers of the tests write without fsync, and others use them at the same time. */
const ofTheseServers = /^wrong (database: fsync is off|connections: )/

test.serial('doctor finds nothing wrong where everything is as it should be', async (t) => {
  const { env } = world()
  await checkVaultKey({
    db: world().db,
    vault: createConfiguredVault(Buffer.from(env['WALLET_KEK'] ?? '', 'base64')),
  })
  const { findings, ok } = await doctor({ DB_POOL: '1' })
  t.deepEqual(
    findings.filter((line) => line.startsWith('wrong') && !ofTheseServers.test(line)),
    [],
  )
  for (const name of [
    ...[
      'settings',
      'schema',
      'database rights',
      'clock of the database',
      'redis',
      'wallet key',
      'data key',
      'treasury',
    ],
    ...['prices', 'swap engines', 'exchange rate', 'naira provider', 'mail server', 'clock of this machine'],
  ])
    t.true(ok.includes(name), `${name}: ${findings.join('\n')}`)
  t.true(findings.some((line) => line.startsWith('warning solana rpc: set SOLANA_GENESIS_HASH=')))
  for (const note of ['CARD_RESERVE_DAYS is off', 'CONFIRM_ACCOUNTS is off', 'TRUST_PROXY is not set'])
    t.true(
      findings.some((line) => line.startsWith(`warning guards: ${note}`)),
      findings.join('\n'),
    )
  const guarded = await doctor({ GUARDS: 'recommended', TRUST_PROXY: 'true' })
  t.deepEqual(
    guarded.findings.filter((line) => /^\w+ guards/.test(line)),
    [
      'warning guards: IDENTITY_LIMITS_NGN name-total is off',
      'warning guards: AGREE_ABOVE_USD needs a second RPC endpoint: credits do not wait',
    ],
  )
  const operator = await doctor({}, { asOperator: true })
  t.true(operator.ok.includes('database rights'), operator.findings.join('\n'))
})

test.serial('doctor names each setting that does not fit the world, and ends with exit code 4', async (t) => {
  const { code, wrong, findings } = await doctor(
    {
      WALLET_KEK: randomBytes(32).toString('base64'),
      SOLANA_GENESIS_HASH: '1'.repeat(32),
      FIATPAY_SECRET_KEY: 'sk_test_another',
      REDIS_URL: redisUrlWith(world().env['REDIS_URL'] ?? '', { cluster: 'true' }),
      SMTP_URL: 'smtp://127.0.0.1:1',
      RATE_URL: 'http://127.0.0.1:1/rates',
      DATABASE_URL: pooled(world().env['DATABASE_URL'] ?? ''),
      DB_POOL: '1000',
    },
    { args: ['--web', '3'] },
  )
  t.is(code, 4)
  for (const expected of [
    /^wrong wallet key: WALLET_KEK is not the key that has sealed the wallets/m,
    /^wrong solana rpc: .* is on another chain/m,
    /^wrong naira provider: FIATPAY_SECRET_KEY: /m,
    /^wrong redis: the server is not a cluster/m,
    /^wrong mail server: /m,
    /^wrong exchange rate: /m,
    /^wrong statement limits: .*alter role \S+ set statement_timeout = '10s';/m,
  ])
    t.regex(findings.join('\n'), expected)
  t.is(wrong, findings.filter((line) => line.startsWith('wrong')).length)
  const many = await doctor({ DB_POOL: '1000' })
  t.regex(
    many.findings.join('\n'),
    /^wrong connections: 1 web processes \(--web\) and 10 workers open at most 11013 connections/m,
  )
})

test.serial('doctor says when DATABASE_READ_URL names a primary, or nothing that answers', async (t) => {
  const address = (world().env['DATABASE_URL'] ?? '').replace(/\/\/[^@]*@/, '//')
  for (const [url, reason] of [
    [address, 'it is no standby of the primary as that is now'],
    [address.replace(/:\d+\//, ':1/'), 'connect ECONNREFUSED 127.0.0.1:1'],
  ] as const) {
    const { findings } = await doctor({ DATABASE_READ_URL: url })
    t.true(
      findings.includes(`warning standby for reads: DATABASE_READ_URL is not used: ${reason}`),
      findings.join('\n'),
    )
  }
  delete process.env['DATABASE_READ_URL']
})

test.serial('doctor lists every faulty setting, and prints no secret', async (t) => {
  const { env } = world()
  const faulty = { DB_POOL: '0', TREASURY_WALLET: '', SMTP_URL: 'nonsense', PRICE_URL: '' }
  const { code, findings } = await doctor(faulty)
  t.is(code, 4)
  t.deepEqual(findings, [
    'wrong settings: DB_POOL Too small: expected number to be >=1',
    'wrong settings: TREASURY_WALLET is missing',
    'wrong settings: PRICE_URL is missing',
    'wrong settings: SMTP_URL must be an smtp(s) URL',
  ])
  const text = JSON.stringify(await doctor({ FIATPAY_SECRET_KEY: 'sk_test_mine' }))
  for (const secret of ['sk_test_mine', env['WALLET_KEK'] ?? '', env['OTP_PEPPER'] ?? ''])
    t.false(text.includes(secret))
})

test.serial('doctor --as-deployed logs in as each process with its own role and settings', async (t) => {
  const { env } = world()
  const url = pooled(env['DATABASE_URL'] ?? '')
  const own = Object.fromEntries(
    deployedProcesses.map((name) => [databaseSetting(name), urlOfRole(url, name)]),
  )
  const args = ['--as-deployed']
  const right = await doctor({ ...own, DATABASE_URL: url }, { args })
  for (const name of deployedProcesses)
    t.true(right.ok.includes(`login of ${name}`), `${name}: ${right.findings.join('\n')}`)
  t.true(right.ok.includes('pool sums'))
  for (const name of ['web', 'payouts', 'clock'])
    t.regex(right.findings.join('\n'), new RegExp(`^warning scrape targets: .*${name} \\(\\d+\\)`, 'm'))
  t.true(right.ok.includes('settings of mailer'), right.findings.join('\n'))

  const wrong = await doctor(
    {
      ...own,
      DATABASE_URL: url,
      [databaseSetting('mailer')]: urlOfRole(url, 'web'),
      [databaseSetting('clock')]: '',
      [databaseSetting('verifier')]: url.replace(/:\d+\//, ':1/'),
      SMTP_URL: '',
    },
    { args },
  )
  for (const expected of [
    /^wrong login of mailer: tipping_web is the role of another process/m,
    /^warning login of clock: \S+ is not the role of this process: set DATABASE_URL_CLOCK/m,
    /^wrong login of verifier: .*ECONNREFUSED/m,
    /^wrong settings of mailer: SMTP_URL is missing/m,
  ])
    t.regex(wrong.findings.join('\n'), expected)
  for (const name of Object.keys(own)) delete process.env[name]
})

test.serial('without prepared statements a named query and a long transaction work', async (t) => {
  const url = world().env['DATABASE_URL'] ?? ''
  const db = createDb(url, 1, undefined, false)
  t.teardown(() => db.destroy())
  const text = 'select count(*)::int as named, current_setting($1) as "limit" from pg_prepared_statements'
  const ask = (on: Knex) => query(on, { name: 'a-name', text, values: ['statement_timeout'] })
  t.deepEqual([await ask(db), await ask(db)], [[{ named: 0, limit: '0' }], [{ named: 0, limit: '0' }]])
  t.deepEqual(await longTransaction(db, 77_000, ask), [{ named: 0, limit: '77s' }])
})
