import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import test, { type ExecutionContext } from 'ava'
import { loadConfig } from '../../src/platform/config/config.js'
import { withGuardDefaults } from '../../src/platform/config/guards.js'
import { loadWalletKeys } from '../../src/platform/config/own-settings.js'
import { allSecrets } from '../../src/platform/config/process-secrets.js'
import { ConfigError } from '../../src/platform/config/read-settings.js'
import { settings } from '../../src/platform/config/settings.js'
import { wallet } from '../tips/verify/transactions.js'

const required = {
  DATABASE_URL: 'postgres://app:secret@db/tips',
  REDIS_URL: 'redis://cache',
  SOLANA_RPC_URLS: 'https://rpc.example',
  TREASURY_WALLET: wallet('treasury'),
  PRICE_URL: 'https://prices.example',
  FIATPAY_URL: 'https://fiatpay.example',
  FIATPAY_SECRET_KEY: 'sk_test_x',
  RATE_URL: 'https://rates.example',
  OTP_PEPPER: randomBytes(32).toString('base64'),
}

function faultsOf(t: ExecutionContext, env: NodeJS.ProcessEnv): string {
  return t.throws(() => loadConfig(env), { instanceOf: ConfigError })?.message ?? ''
}

test('with only the required settings, all others have their defaults', (t) => {
  const config = loadConfig(required)
  t.like(config, {
    http: { port: 3000, publicUrl: 'http://localhost:3000', trustProxy: undefined },
    database: { url: required.DATABASE_URL, pool: 8, recordPool: 2, prepared: true },
    redis: { url: 'redis://cache', namespace: 'tipping', cluster: false },
    sessions: { idleDays: 7, absoluteDays: 30, accessTokenHours: 24 },
    logLevel: 'info',
    tracesUrl: undefined,
  })
  t.like(config.chain, { rpcUrls: ['https://rpc.example'], genesisHash: undefined })
  t.like(config.tips, { feeBps: 200, minUsd: 0.01, maxUsd: 10_000, walletWaitMs: 3000, claimWindowHours: 24 })
  t.is(config.prices.jumpPercent, 20)
  t.deepEqual(config.limits, {
    factor: 1,
    reads: 120,
    status: 60,
    tipsCreate: 60,
    intents: 60,
    apiKey: 300,
    sdkAddress: 600,
    sdkIntentReads: 60,
    withdraw: 5,
    resolve: 10,
    resolveAddress: 60,
    airdrops: 20,
    register: 10,
    login: 10,
    otpStart: 5,
    signInAddress: 300,
    failedCodes: 100,
    streams: 20,
    webhooks: 3000,
    pageSessions: 1200,
  })
  t.true(Object.isFrozen(config))
})

test('.env.example has a line for every setting, with its default', (t) => {
  const lines = [...readFileSync('.env.example', 'utf8').matchAll(/^# ([A-Z0-9_]+)=(\S*) +# ./gm)]
  const example = new Map(lines.map(([, name = '', value = '']) => [name, value]))
  const guards: NodeJS.ProcessEnv = withGuardDefaults({})
  for (const [name, form] of Object.entries(settings.shape)) {
    // The platform sets it.
    if (name === 'NODE_ENV') continue
    const { success, data } = form.safeParse(guards[name])
    const value: unknown = guards[name] ?? (success ? data : undefined) ?? ''
    t.is(example.get(name), String(value), name)
  }
  t.deepEqual(
    allSecrets.filter((name) => !example.has(name)),
    [],
  )
})

test('GUARDS sets every guard at once, by default as recommended, and each setting overrides its own', (t) => {
  const { guards, guardTable } = loadConfig(required)
  t.is(guards, 'recommended')
  t.like(guardTable, { CONFIRM_ACCOUNTS: 'all', CARD_RESERVE_DAYS: 14 })
  t.is(guardTable.PAYOUT_LIMITS_NGN, 'hour:5000000,day:20000000,creator-hour:500000,creator-day:2000000')
  const contract = loadConfig({ ...required, GUARDS: 'contract', PAYOUT_LIMITS_NGN: 'hour:5' })
  t.deepEqual(
    Object.entries(contract.guardTable).filter(([, value]) => value !== 'off'),
    [
      ['CARD_RESERVE_DAYS', 0],
      ['PAYOUT_LIMITS_NGN', 'hour:5,day:off,creator-hour:off,creator-day:off'],
      ['RATE_JUMP_PERCENT', 20],
    ],
  )
  t.is(contract.withdrawals.confirmAccounts, 'off')
  const own = {
    ...required,
    IDENTITY_LIMITS_NGN: 'young:off,name-total:7',
    CONFIRM_ACCOUNTS: 'new',
    CARD_RESERVE_DAYS: '',
  }
  const { withdrawals, fiat } = loadConfig(own)
  t.is(withdrawals.youngNgn, undefined)
  t.is(withdrawals.perName.totalNgn, 7)
  t.is(withdrawals.perName.dailyNgn, 1_000_000, 'what is not named keeps its value')
  t.is(withdrawals.confirmAccounts, 'new')
  t.is(fiat.cardReserveDays, 14, 'an empty value counts as absent')
  t.regex(faultsOf(t, { ...required, GUARDS: 'none' }), /^ {2}GUARDS: [^\n]*$/m)
})

test('one message lists every fault', (t) => {
  const message = faultsOf(t, {
    ...required,
    DATABASE_URL: undefined,
    REDIS_URL: '',
    PORT: '70000',
    PUBLIC_URL: 'ftp://example.com',
    SOLANA_RPC_URLS: 'https://rpc.example, nonsense',
    TREASURY_WALLET: '0OIl',
    CRYPTO_FEE_BPS: '2.5',
    MIN_TIP_USD: 'a lot',
    TRUST_PROXY: 'yes',
    LOG_LEVEL: 'loud',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'grpc://collector:4317',
  })
  const names = [
    'DATABASE_URL',
    'REDIS_URL',
    'PORT',
    'PUBLIC_URL',
    'SOLANA_RPC_URLS',
    'TREASURY_WALLET',
    'CRYPTO_FEE_BPS',
    'MIN_TIP_USD',
    'TRUST_PROXY',
    'LOG_LEVEL',
    'OTEL_EXPORTER_OTLP_ENDPOINT',
  ]
  for (const name of names) t.regex(message, new RegExp(`^ {2}${name}\\b.*: `, 'm'))
  t.is(message.split('\n').length, 1 + names.length)
})

test('a standby is reached with the user of the primary', (t) => {
  const standbyOf = (DATABASE_READ_URL: string, DATABASE_URL = required.DATABASE_URL) =>
    loadConfig({ ...required, DATABASE_URL, DATABASE_READ_URL }).database.standby
  t.deepEqual(standbyOf('postgres://standby:5433/tips?sslmode=require'), {
    url: 'postgres://app:secret@standby:5433/tips?sslmode=require',
    prepared: true,
  })
  t.deepEqual(standbyOf('postgres://standby/tips?pgbouncer=true', 'postgres://db/tips?user=app@x'), {
    url: 'postgres://standby/tips',
    prepared: false,
  })
  t.is(standbyOf(''), undefined)
  for (const url of ['postgres://app@standby/tips', 'standby', '/run/postgresql'])
    t.regex(faultsOf(t, { ...required, DATABASE_READ_URL: url }), /^ {2}DATABASE_READ_URL: /m, url)
})

test('numbers must be within their bounds, inclusive', (t) => {
  const table: [name: string, valid: string[], refused: string[]][] = [
    ['PORT', ['0', '1', '65535'], ['-1', '65536', '3000.5', 'http', 'Infinity', 'NaN']],
    ['CRYPTO_FEE_BPS', ['0', '200', '5000'], ['-1', '5001', '0.5', '2%']],
    ['PRICE_JUMP_PERCENT', ['1', '1000'], ['0', '1001', '']],
    ['CLAIM_WINDOW_HOURS', ['0.1', '8760'], ['0', '8761']],
    ['PAYOUT_SECONDS', ['15,3,900', '0.05,0.01,0.1'], ['15', '15,3', '15,3,x', '31,3,900', '15,3,900,1']],
    [
      'PAYOUT_LIMITS_NGN',
      ['off', 'hour:0', 'day:off,hour:1', 'off,day:5'],
      ['5', 'hour', 'week:1', 'hour:-1', 'hour:1,'],
    ],
  ]
  for (const [name, valid, refused] of table) {
    for (const value of valid)
      t.notThrows(() => loadConfig({ ...required, [name]: value }), `${name}=${value}`)
    for (const value of refused.filter((text) => text !== ''))
      t.true(faultsOf(t, { ...required, [name]: value }).includes(name), `${name}=${value}`)
  }
})

test('the addresses of the database and Redis must be readable for their clients', (t) => {
  const table: [name: string, valid: string[], refused: string[]][] = [
    [
      'DATABASE_URL',
      [
        'postgres://db',
        'postgresql://app:p%40ss@db:5433/tips?sslmode=require',
        'postgres://[::1]:5432/tips',
        'postgres:///tips?host=/var/run/postgresql',
        'postgres://app:pass@/tips?host=/var/run/postgresql',
        'postgres://%2Fvar%2Frun%2Fpostgresql/tips',
        'socket:/var/run/postgresql?db=tips',
        '/var/run/postgresql tips',
      ],
      ['foo', 'http://db/tips', 'mysql://db/tips', 'postgres:db', 'postgres://db:port/tips', 'db:5432/tips'],
    ],
    [
      'REDIS_URL',
      [
        'redis://cache',
        'rediss://app:p%40ss@cache:6380/2?family=6',
        'redis://:pass@cache/15',
        'redis://[::1]:6379',
        'redis://a:6379,redis://b:6379,rediss://c',
        'redis://a:6379,b:6379',
        'cache:6379',
        '/run/redis.sock?db=2',
      ],
      [
        'foo',
        'http://x',
        'http://x:6379',
        'redis:cache',
        'redis://cache:port',
        'redis://a,',
        'redis://a,http://b:6379',
        'amqp://x',
      ],
    ],
  ]
  for (const [name, valid, refused] of table) {
    for (const value of valid)
      t.notThrows(() => loadConfig({ ...required, [name]: value }), `${name}=${value}`)
    for (const value of refused)
      t.regex(faultsOf(t, { ...required, [name]: value }), new RegExp(`^  ${name}: must be a `, 'm'), value)
  }
})

test('MIN_TIP_USD above MAX_TIP_USD is refused, together with any other fault', (t) => {
  const crossed = { ...required, MIN_TIP_USD: '5', MAX_TIP_USD: '4.99' }
  t.regex(faultsOf(t, crossed), /^ {2}MIN_TIP_USD: must not be above MAX_TIP_USD/m)
  const message = faultsOf(t, { ...crossed, PORT: 'http' })
  t.true(message.includes('MIN_TIP_USD: ') && message.includes('PORT: '), message)
  t.true(faultsOf(t, { ...required, MIN_TIP_USD: '10001' }).includes('MIN_TIP_USD'), 'the default counts too')
  t.like(loadConfig({ ...required, MIN_TIP_USD: '5', MAX_TIP_USD: '5' }).tips, { minUsd: 5, maxUsd: 5 })
})

test('TRUST_PROXY is true, false, a number of proxies, or a list of networks', (t) => {
  for (const [text, trust] of [
    ['true', 1],
    ['false', 0],
    ['0', 0],
    ['2', 2],
    ['99', 99],
    ['10.0.0.0/8', ['10.0.0.0/8']],
    [' 10.0.0.0/8 ,192.0.2.7, 2001:db8::/32,::1', ['10.0.0.0/8', '192.0.2.7', '2001:db8::/32', '::1']],
  ] as const)
    t.deepEqual(loadConfig({ ...required, TRUST_PROXY: text }).http.trustProxy, trust)
  const wrong = ['TRUE', 'yes', '100', '-1', '1.5', '10.0.0.0/33', '10.0.0.0/', '10.0.0/8', '2001:db8::/129']
  const alsoWrong = [
    '0.0.0.0/0',
    '::/0',
    '10.0.0.0/8/8',
    'fe80::1%eth0',
    '10.0.0.0/8,',
    'proxy.example',
    '10.0.0.1 10.0.0.2',
  ]
  for (const text of [...wrong, ...alsoWrong])
    t.regex(faultsOf(t, { ...required, TRUST_PROXY: text }), /^ {2}TRUST_PROXY: must be true, false, /m, text)
})

test('in production PUBLIC_URL must be given and https', (t) => {
  const production = { ...required, NODE_ENV: 'production', FIATPAY_SECRET_KEY: 'sk_live_x' }
  for (const url of [undefined, ' ', 'http://tips.example', 'http://localhost:3000'])
    t.regex(
      faultsOf(t, { ...production, PUBLIC_URL: url, PORT: 'http' }),
      /^ {2}PUBLIC_URL: must be set to an https URL with NODE_ENV=production/m,
      String(url),
    )
  t.is(
    loadConfig({ ...production, PUBLIC_URL: 'HTTPS://Tips.example' }).http.publicUrl,
    'HTTPS://Tips.example',
  )
  t.notThrows(() => loadConfig({ ...required, PUBLIC_URL: 'http://tips.example', NODE_ENV: 'development' }))
})

test('in production a live deployment takes no test key of a real provider', (t) => {
  const live = { ...required, NODE_ENV: 'production', PUBLIC_URL: 'https://tips.example' }
  const keys = { FIATPAY_SECRET_KEY: 'sk_live_x', PAYOUT_SECRET_KEY: 'sk_live_y' }
  for (const change of [
    { FIATPAY_SECRET_KEY: 'sk_test_x' },
    { FIATPAY_SECRET_KEY: 'sk_live_x,sk_test_x' },
    { PAYOUT_SECRET_KEY: 'sk_test_x' },
  ]) {
    t.regex(
      faultsOf(t, { ...live, ...keys, ...change }),
      /FIATPAY_SECRET_KEY: or PAYOUT_SECRET_KEY is a test key/,
    )
    t.notThrows(() =>
      loadConfig({ ...live, ...keys, ...change, FIATPAY_URL: 'http://127.0.0.1:8899/fiatpay' }),
    )
  }
  t.notThrows(() => loadConfig({ ...live, ...keys }))
})

test('a test deployment takes no key that moves real money, and knows the address of the other one', (t) => {
  const standIns = { ...required, SOLANA_RPC_URLS: 'http://127.0.0.1:8899' }
  t.regex(
    faultsOf(t, {
      ...standIns,
      MODE: 'test',
      SOLANA_RPC_URLS: `${standIns.SOLANA_RPC_URLS},https://rpc.example`,
    }),
    /MODE: is test, but SOLANA_RPC_URLS leads to a real chain/,
  )
  const message = 'MODE: is test, but FIATPAY_SECRET_KEY or PAYOUT_SECRET_KEY is a live key'
  for (const change of [
    { FIATPAY_SECRET_KEY: 'sk_live_x' },
    { FIATPAY_SECRET_KEY: 'sk_test_x,sk_live_x' },
    { PAYOUT_SECRET_KEY: 'sk_live_x' },
  ]) {
    t.true(faultsOf(t, { ...standIns, MODE: 'test', ...change }).includes(message))
    t.notThrows(() => loadConfig({ ...standIns, ...change }))
  }
  const urls = { TEST_URL: 'https://test.example/', LIVE_URL: 'https://live.example' }
  t.like(loadConfig({ ...standIns, ...urls }), { mode: 'live', otherUrl: 'https://test.example' })
  t.like(loadConfig({ ...standIns, ...urls, MODE: 'test' }), {
    mode: 'test',
    otherUrl: 'https://live.example',
  })
})

test('an error message contains no value', (t) => {
  const secret = 'canary-3f9c'
  const wrong = Object.fromEntries(
    [
      'DATABASE_URL',
      'REDIS_URL',
      'PORT',
      'PUBLIC_URL',
      'SOLANA_RPC_URLS',
      'TREASURY_WALLET',
      'PRICE_URL',
      'TRUST_PROXY',
      'LOG_LEVEL',
      'CRYPTO_FEE_BPS',
    ].map((name) => [name, `${secret} ${name.toLowerCase()} !`]),
  )
  t.false(faultsOf(t, { ...required, ...wrong }).includes(secret))
  t.false(t.throws(() => loadWalletKeys({ WALLET_KEK: secret }))?.message.includes(secret))
})

test('WALLET_KEK is a key of exactly 32 bytes in base64, or several by version', (t) => {
  const [key, newer] = [randomBytes(32), randomBytes(32)]
  const [one, two] = [key.toString('base64'), newer.toString('base64')]
  const both = new Map([
    [2, newer],
    [1, key],
  ])
  t.deepEqual(loadWalletKeys({ WALLET_KEK: one }), new Map([[1, key]]))
  for (const list of [`2:${two},1:${one}`, ` 1:${one} , 2:${two} `, `${one},2:${two}`])
    t.deepEqual(loadWalletKeys({ WALLET_KEK: list }), both)
  const refused = [
    undefined,
    '',
    ' ',
    randomBytes(31).toString('base64'),
    randomBytes(33).toString('base64'),
    key.toString('hex'),
    'change-me',
    `${one},`,
    `0:${one}`,
    `x:${one}`,
    `2147483648:${one}`,
    `1:${one},1:${two}`,
    `${one},1:${two}`,
    `2:${one},1:${one}`,
    `2:${two},1:short`,
  ]
  for (const value of refused) {
    const error = t.throws(() => loadWalletKeys({ WALLET_KEK: value }), { instanceOf: ConfigError })
    t.true(error?.message.includes('WALLET_KEK'), String(value))
    t.false(error?.message.includes(one))
  }
})

test('pages get the first RPC URL without a key in it, or PUBLIC_RPC_URL', (t) => {
  const urls = [
    'https://rpc.example/v2/key',
    'https://rpc.example/?api-key=key',
    'https://user:key@rpc.example',
    'https://open.example/',
  ]
  const open = loadConfig({ ...required, SOLANA_RPC_URLS: urls.join(',') })
  t.is(open.chain.publicRpcUrl, 'https://open.example')
  t.is(loadConfig({ ...required, SOLANA_RPC_URLS: urls.slice(0, 3).join(',') }).chain.publicRpcUrl, undefined)
  const set = loadConfig({ ...required, PUBLIC_RPC_URL: 'https://pages.example/v2/public' })
  t.is(set.chain.publicRpcUrl, 'https://pages.example/v2/public')
})

test('pages send bundles to their RPC URL, or to PUBLIC_BUNDLE_RPC_URL', (t) => {
  const chain = (env: NodeJS.ProcessEnv) => loadConfig({ ...required, ...env }).chain
  t.is(chain({}).publicBundleRpcUrl, 'https://rpc.example')
  t.is(chain({ PUBLIC_RPC_URL: 'https://pages.example' }).publicBundleRpcUrl, 'https://pages.example')
  t.is(chain({ SOLANA_RPC_URLS: 'https://rpc.example/v2/key' }).publicBundleRpcUrl, undefined)
  const bundles = {
    PUBLIC_RPC_URL: 'https://pages.example',
    PUBLIC_BUNDLE_RPC_URL: 'https://bundles.example',
  }
  t.like(chain(bundles), {
    publicRpcUrl: 'https://pages.example',
    publicBundleRpcUrl: 'https://bundles.example',
  })
})

test('OTP_PEPPER and FIATPAY_SECRET_KEY take two values, of which the first is used', (t) => {
  const DATA_KEY = randomBytes(32).toString('base64')
  const other = randomBytes(32).toString('base64')
  const two = { ...required, DATA_KEY, OTP_PEPPER: `${other}, ${required.OTP_PEPPER}` }
  t.deepEqual(
    loadConfig(two).otpPeppers.map((one) => one.toString('base64')),
    [other, required.OTP_PEPPER],
  )
  // Which of the two has sealed the data nobody could tell.
  t.regex(faultsOf(t, { ...two, DATA_KEY: '' }), /DATA_KEY: must be set while OTP_PEPPER has two values/)
  t.notThrows(() => loadConfig(two, ['DATABASE_URL', 'REDIS_URL', 'OTP_PEPPER']), 'reads no sealed data')

  const keys = loadConfig({ ...required, FIATPAY_SECRET_KEY: 'sk_test_new,sk_test_old' }).fiatpay
  t.like(keys, { secretKey: 'sk_test_new', payoutKey: 'sk_test_new' })
  t.deepEqual(keys.webhookKeys, ['sk_test_new', 'sk_test_old'])

  for (const pepper of [`${other},`, `${other},${other}`, `${other},short`, `${two.OTP_PEPPER},${DATA_KEY}`])
    t.regex(faultsOf(t, { ...two, OTP_PEPPER: pepper }), /OTP_PEPPER: must be 32 bytes, base64, or two/)
  for (const key of ['a,', 'a,a', 'a,b,c', 'a b'])
    t.regex(
      faultsOf(t, { ...required, FIATPAY_SECRET_KEY: key }),
      /FIATPAY_SECRET_KEY: must be a key, or two/,
    )
  t.regex(faultsOf(t, { ...required, PAYOUT_SECRET_KEY: 'a,b' }), /PAYOUT_SECRET_KEY: must be one key/)
})

test('options of Redis and of the pooler stand in the queries of their URLs, and are taken out of them', (t) => {
  const redisOf = (url: string) => loadConfig({ ...required, REDIS_URL: url }).redis
  t.deepEqual(redisOf('rediss://u:p@a:1/2?family=6&namespace=shop&insecure=true'), {
    url: 'rediss://u:p@a:1/2?family=6',
    namespace: 'shop',
    cluster: false,
    tls: { ca: undefined, insecure: true },
  })
  t.like(redisOf('a:1,b:2?namespace=shop'), { url: 'a:1,b:2', namespace: 'shop', cluster: true })
  t.like(redisOf('redis://a?cluster=true'), { url: 'redis://a', cluster: true })
  for (const option of ['namespace=two words', 'ca=/nowhere', 'cluster=yes'])
    t.regex(
      faultsOf(t, { ...required, REDIS_URL: `redis://a?${option}` }),
      /^ {2}REDIS_URL: has a bad option/m,
    )
  const databaseOf = (url: string) => loadConfig({ ...required, DATABASE_URL: url }).database
  t.like(databaseOf('postgres://db/tips?pgbouncer=true'), { url: 'postgres://db/tips', prepared: false })
  const both = databaseOf('postgres://db/tips?pgbouncer=true&sslmode=require')
  t.like(both, { url: 'postgres://db/tips?sslmode=require', prepared: false })
})

test('the key of the swap engines goes to the price feed of the same host only', (t) => {
  const engine = {
    ...required,
    AGGREGATOR_ULTRA_URL: 'https://prices.example/ultra',
    AGGREGATOR_API_KEY: 'k',
  }
  t.is(loadConfig(engine).prices.apiKey, 'k')
  t.is(loadConfig({ ...engine, PRICE_URL: 'https://other.example' }).prices.apiKey, undefined)
})
