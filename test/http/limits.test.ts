import { randomUUID } from 'node:crypto'
import test, { type ExecutionContext } from 'ava'
import type { Context } from 'koa'
import { redisUrlWith } from '../../scripts/kit/service-settings.js'
import { clientAddress, clientNetwork } from '../../src/http/limits/client-address.js'
import { trustProxies } from '../../src/http/limits/trusted-proxies.js'
import { solMint } from '../../src/kernel/tokens.js'
import type { TrustProxy } from '../../src/platform/config/trust-proxy.js'
import { createClient, type Request } from '../helpers/http/client.js'
import { freshEmail, registerPerson } from '../helpers/make/creators.js'
import { storeCode } from '../helpers/make/sign-in/emailed-codes.js'
import { startApp } from '../helpers/servers/serve-app.js'
import { useWorld } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'

const world = useWorld(test)

let apps = 0
/** Starts an app with limits and its own counts, behind a proxy. `from` sets the client address. */
async function startLimited(
  t: ExecutionContext,
  env: Readonly<Record<string, string>> = {},
): Promise<Request> {
  apps += 1
  const on = { RATE_LIMIT_FACTOR: '1', TRUST_PROXY: 'true', REDIS_URL: countsOf(`limits-${apps}`) }
  return createClient((await startApp(t, { ...world().env, ...on, ...env })).url)
}

const countsOf = (namespace: string): string => redisUrlWith(world().env['REDIS_URL'] ?? '', { namespace })

function from(address: string): { headers: Record<string, string> } {
  return { headers: { 'x-forwarded-for': address } }
}

/** The endpoints for crypto tips and accounts, each with the name of its limit. */
const limitOf: Readonly<Record<string, string>> = {
  'POST /auth/register': 'register',
  'POST /auth/login': 'login',
  'GET /auth/me': 'reads',
  'POST /auth/logout': 'reads',
  'POST /payments/intent': 'intents',
  'POST /chain/tips/create': 'tipsCreate',
  'GET /chain/tips': 'reads',
  'GET /chain/tips/stream': 'reads',
}

/** The other endpoints, each with the name of its limit. */
const furtherLimits: Readonly<Record<string, string>> = {
  'POST /auth/otp/start': 'otpStart',
  'POST /auth/otp/verify': 'reads',
  'POST /sdk/init': 'apiKey',
  'GET /sdk/events': 'apiKey',
  'POST /sdk/tip': 'intents',
  'GET /sdk/intents/{intentId}': 'sdkIntentReads',
  'GET /sdk/session': 'reads',
  'POST /sdk/session/renew': 'intents',
  'GET /creators/balance/tokens': 'reads',
  'POST /sdk/handoff': 'intents',
  'POST /sdk/handoff/redeem': 'intents',
  'GET /pay/{code}': 'intents',
  'POST /payments/fiat/intent': 'intents',
  'GET /payments/fiat/status': 'status',
  'GET /payments/fiat/rate': 'reads',
  'POST /pay/{code}': 'intents',
  'GET /actions/tip/{handle}': 'reads',
  'POST /actions/tip/{handle}': 'intents',
  'POST /actions/tip/{handle}/sent': 'tipsCreate',
  'GET /creators/me': 'reads',
  'PATCH /creators/me': 'intents',
  'POST /creators/domain-challenge': 'intents',
  'POST /creators/api-keys': 'intents',
  'DELETE /creators/api-keys/{id}': 'intents',
  'PUT /creators/domains': 'intents',
  'GET /creators/banks': 'reads',
  'POST /creators/bank-accounts/resolve': 'resolve',
  'POST /payouts/withdraw': 'withdraw',
  'GET /payouts/history': 'reads',
}

test('the OpenAPI document has the limit of every endpoint', async (t) => {
  const { body } = await world().request<{
    paths: Record<string, Record<string, { 'x-rate-limit'?: string }>>
  }>('GET', '/openapi.json')
  const stated = Object.entries(body.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => [
      `${method.toUpperCase()} ${path}`,
      operation['x-rate-limit'],
    ]),
  )
  for (const [endpoint, limit] of stated) t.is(typeof limit, 'string', endpoint)
  t.like(Object.fromEntries(stated), { ...limitOf, ...furtherLimits })
})

for (const [endpoint, setting] of Object.entries({
  'POST /auth/register': 'RATE_REGISTER',
  'GET /auth/me': 'RATE_READS',
  'POST /auth/logout': 'RATE_READS',
  'POST /payments/intent': 'RATE_INTENTS',
  'POST /chain/tips/create': 'RATE_TIPS_CREATE',
  'GET /chain/tips': 'RATE_READS',
  'GET /chain/tips/stream': 'RATE_READS',
  'GET /creators/me': 'RATE_READS',
  'POST /auth/otp/verify': 'RATE_READS',
  'POST /sdk/tip': 'RATE_INTENTS',
  'POST /sdk/handoff/redeem': 'RATE_INTENTS',
}))
  test(`${endpoint} is counted per client address before any other check`, async (t) => {
    const request = await startLimited(t, { [setting]: '3' })
    const [method = '', path = ''] = endpoint.split(' ')
    for (const left of ['2', '1', '0']) {
      const { status, headers } = await request(method, path, from('192.0.2.1'))
      t.true(status === 400 || status === 401, `${status}`)
      t.is(headers['x-ratelimit-limit'], '3')
      t.is(headers['x-ratelimit-remaining'], left)
      const [, name] = /^"(\w+)";q=3;w=(?:60|900)$/.exec(String(headers['ratelimit-policy'])) ?? []
      t.regex(String(headers['ratelimit']), new RegExp(`^"${name}";r=${left};t=\\d+$`))
    }
    const refused = await request(method, path, from('192.0.2.1'))
    t.is(refused.status, 429)
    t.like(refused.body, { success: false, error: 'Too many requests', code: 'too_many_requests' })
    t.is(refused.headers['x-ratelimit-remaining'], '0')
    t.regex(String(refused.headers['ratelimit']), /^"\w+";r=0;t=[1-9]\d*$/)
    t.is(refused.headers['cache-control'], 'no-store')
    const seconds = Number(refused.headers['retry-after'])
    t.true(Number.isInteger(seconds) && seconds >= 1 && seconds <= 60, `${seconds}`)
    const reset = Number(refused.headers['x-ratelimit-reset']) - Date.now() / 1000
    t.true(reset > 0 && reset <= 62, `${reset}`)
    t.not((await request(method, path, from('192.0.2.2'))).status, 429)
  })

test('a call that is counted twice names both limits, and refused guesses name theirs', async (t) => {
  const request = await startLimited(t, { RATE_LOGIN: '7', RATE_LIMIT_FACTOR: '0.5' })
  const body = { email: freshEmail(), password: 'wrong' }
  const { headers } = await request('POST', '/auth/login', { ...from('192.0.2.1'), body })
  t.is(headers['ratelimit-policy'], '"signInAddress";q=150;w=900, "login";q=4;w=900')
  t.regex(String(headers['ratelimit']), /^"signInAddress";r=149;t=\d+, "login";r=3;t=\d+$/)
  const unlimited = await createClient((await startApp(t, world().env)).url)
  const free = await unlimited('POST', '/auth/login', { body })
  t.false('ratelimit' in free.headers || 'ratelimit-policy' in free.headers)
})

test('login is counted per client address and normalized e-mail, also with the right password', async (t) => {
  const { email, password } = await registerPerson(world())
  const request = await startLimited(t, { RATE_LOGIN: '3' })
  const login = async (address: string, as: string, word = 'wrong') =>
    (await request('POST', '/auth/login', { ...from(address), body: { email: as, password: word } })).status
  for (const written of [email, email.toUpperCase(), ` ${email} `])
    t.is(await login('192.0.2.1', written), 401)
  t.is(await login('192.0.2.1', email, password), 429)
  t.is(await login('192.0.2.1', freshEmail()), 401, 'another e-mail')
  t.is(
    await login('192.0.2.2', email, password),
    200,
    'another client address: others cannot lock the owner out',
  )
})

test('14.11 an address has one budget for logins and codes, and another address is not refused', async (t) => {
  const request = await startLimited(t, { RATE_LIMIT_FACTOR: '0.01' })
  const { email, password } = await registerPerson(world())
  const login = async (address: string, body: object) =>
    (await request('POST', '/auth/login', { ...from(address), body })).status
  const start = async (address: string) =>
    (await request('POST', '/auth/otp/start', { ...from(address), body: { email: freshEmail() } })).status
  t.deepEqual(
    [
      await login('192.0.2.1', { email: freshEmail(), password }),
      await start('192.0.2.1'),
      await login('192.0.2.1', {}),
    ],
    [401, 404, 400],
  )
  const refused = await request('POST', '/auth/login', { ...from('192.0.2.1'), body: { email, password } })
  t.deepEqual([refused.status, refused.body.error], [429, 'Too many requests'])
  t.is(await start('192.0.2.1'), 429)
  t.is(await login('192.0.2.2', { email, password }), 200)
})

test('14.11 wrong codes are capped per address over all accounts, right ones are not counted', async (t) => {
  const request = await startLimited(t, { RATE_LIMIT_FACTOR: '0.03', RATE_READS: '1000' })
  const people = await Promise.all(Array.from({ length: 3 }, () => registerPerson(world())))
  const verify = (address: string, email: string, code = '000000') =>
    request('POST', '/auth/otp/verify', { ...from(address), body: { email, code } })
  const mostAtOnce = await Promise.all(people.map(({ email }) => verify('192.0.2.1', email)))
  t.deepEqual(
    mostAtOnce.map(({ status }) => status),
    [400, 400, 400],
  )
  const refused = await verify('192.0.2.1', freshEmail())
  t.deepEqual([refused.status, refused.body.error], [429, 'Too many requests'])
  t.truthy(refused.headers['retry-after'])
  t.is((await verify('192.0.2.2', freshEmail())).status, 400)
  const [person] = people
  if (person === undefined) return t.fail()
  for (let n = 0; n < 4; n++) {
    await storeCode(world(), person, '123456')
    t.is((await verify('192.0.2.3', person.email, '123456')).status, 200)
  }
  t.is((await verify('192.0.2.3', person.email, '12')).status, 400, 'a malformed code is not counted')
})

test('a thief with the cookie uses up the guesses of that session only, and right passwords do not count', async (t) => {
  const request = await startLimited(t, { RATE_OTP_START: '2' })
  const { email, password, session } = await registerPerson(world())
  let asked = 0
  const nextAddress = (): string => {
    asked += 1
    return `192.0.2.${asked}`
  }
  const ask = async (cookie: string | undefined, body: object, path = '/auth/email') =>
    (await request('POST', path, { ...from(nextAddress()), session: cookie, body })).status
  const wrong = { email: freshEmail(), password: 'a wrong password' }
  for (let n = 0; n < 4; n++) t.is(await ask(session, { ...wrong, password }), 200, 'right ones')
  t.is(await ask(session, { newPassword: 'purple kettle by the sea' }, '/auth/password'), 400)
  t.deepEqual(
    [await ask(session, wrong), await ask(session, wrong), await ask(session, wrong)],
    [401, 401, 429],
  )
  t.is(await ask(session, { currentPassword: password, newPassword: 'x'.repeat(20) }, '/auth/password'), 429)
  const again = await request('POST', '/auth/login', { ...from('192.0.2.1'), body: { email, password } })
  t.is(await ask(again.session, { ...wrong, password }), 200, 'the owner signs in again and goes on')
  const seldom = await request('POST', '/auth/email', {
    ...from('192.0.2.1'),
    session: again.session,
    body: { ...wrong, password },
  })
  t.is(seldom.status, 429, 'five mails to addresses that the caller chose')
  t.true(Number(seldom.headers['retry-after']) > 0)
})

test('requests are counted per presented API key, across client addresses', async (t) => {
  const request = await startLimited(t, { RATE_API_KEY: '2' })
  const init = async (address: string, key: string) => {
    const body = { creatorId: 'nobody', originUrl: 'https://page.example' }
    return (await request('POST', '/sdk/init', { ...from(address), bearer: key, body })).status
  }
  const [one, two] = [`tk_live_${'a'.repeat(32)}`, `tk_live_${'b'.repeat(32)}`]
  t.deepEqual(
    [await init('192.0.2.1', one), await init('192.0.2.2', one), await init('192.0.2.3', one)],
    [401, 401, 429],
  )
  t.is(await init('192.0.2.1', two), 401)
})

for (const [endpoint, presented] of Object.entries({
  'POST /sdk/init': () => `tk_live_${randomUUID()}`,
  'GET /sdk/events': () => `tk_live_${randomUUID()}`,
  'GET /sdk/intents/pi_none': () => `sdk_sess_${randomUUID()}`,
}))
  test(`${endpoint} with a different invalid credential each time is counted per client address`, async (t) => {
    const request = await startLimited(t, { RATE_LIMIT_FACTOR: '0.005' })
    const [method = '', path = ''] = endpoint.split(' ')
    const guess = async (address: string) =>
      (await request(method, path, { ...from(address), bearer: presented() })).status
    for (let n = 0; n < 3; n++) t.not(await guess('192.0.2.1'), 429)
    t.is(await guess('192.0.2.1'), 429)
    t.is(
      (await request(method, path, from('192.0.2.1'))).status,
      429,
      'a request without a credential is counted too',
    )
    t.not(await guess('192.0.2.2'), 429)
  })

test('requests for one-time codes are counted per normalized e-mail, known or unknown', async (t) => {
  const request = await startLimited(t, { RATE_OTP_START: '2' })
  const start = async (address: string, email: string) =>
    (await request('POST', '/auth/otp/start', { ...from(address), body: { email } })).status
  const { email: known } = await registerPerson(world())
  for (const [email, status] of [
    [known, 200],
    [freshEmail(), 404],
  ] as const) {
    t.is(await start('192.0.2.1', email), status)
    t.is(await start('192.0.2.2', ` ${email.toUpperCase()}`), status)
    t.is(await start('192.0.2.3', email), 429)
  }
})

test('behind a proxy the client address is the last X-Forwarded-For entry', async (t) => {
  const request = await startLimited(t, { RATE_READS: '3' })
  const get = async (forwarded: string) => (await request('GET', '/chain/tips', from(forwarded))).status
  for (let i = 0; i < 3; i++) t.is(await get(`198.51.100.${i}, 192.0.2.7`), 400)
  for (const spoof of ['198.51.100.9, ', '127.0.0.1, 10.0.0.1, ', 'nonsense, ', ', , ', ''])
    t.is(await get(`${spoof}192.0.2.7`), 429, spoof)
  t.is(await get('192.0.2.7, 192.0.2.8'), 400)
})

test('behind two proxies the client address is the second X-Forwarded-For entry from the right', async (t) => {
  const request = await startLimited(t, { RATE_READS: '3', TRUST_PROXY: '2' })
  const get = async (forwarded: string) => (await request('GET', '/chain/tips', from(forwarded))).status
  for (let i = 0; i < 3; i++) t.is(await get(`198.51.100.${i}, 192.0.2.7, 10.0.0.${i}`), 400)
  for (const spoof of ['198.51.100.9, ', 'nonsense, ', '192.0.2.9:80, [2001:db8::9]:80, '])
    t.is(await get(`${spoof}192.0.2.7, 10.0.0.9`), 429, spoof)
  t.is(await get('192.0.2.7:4711, 10.0.0.9'), 429, 'the port of a client is no part of its address')
  t.is(await get('192.0.2.7'), 429, 'a request past the first proxy counts for who connected to the second')
  t.is(await get('nonsense, 192.0.2.7'), 429, 'nonsense ends the search')
  t.is(await get('192.0.2.8, 192.0.2.7'), 400)
})

test('proxies of trusted networks are skipped from the right, and nothing left of the client counts', async (t) => {
  const networks = '127.0.0.0/8, 10.0.0.0/8, 2001:db8:ffff::/48'
  const request = await startLimited(t, { RATE_READS: '3', TRUST_PROXY: networks })
  const get = async (forwarded: string) => (await request('GET', '/chain/tips', from(forwarded))).status
  const chains = [
    '10.0.0.1',
    '2001:db8:ffff::1, ::ffff:10.9.9.9',
    '[2001:db8:ffff::2]:443, 10.0.0.1:80, 127.0.0.1',
  ]
  for (const chain of chains) t.is(await get(`192.0.2.7, ${chain}`), 400, chain)
  for (const spoof of ['198.51.100.9', '10.0.0.1', '198.51.100.9, 10.0.0.1', 'nonsense', ''])
    t.is(await get(`${spoof}, 192.0.2.7, 10.0.0.1`), 429, spoof)
  t.is(await get('192.0.2.7, 192.0.2.8, 10.0.0.1'), 400, 'another client that names the first one')
  const elsewhere = await startLimited(t, { RATE_READS: '1', TRUST_PROXY: '10.0.0.0/8' })
  const statuses: number[] = []
  for (const address of ['192.0.2.1', '192.0.2.2'])
    statuses.push((await elsewhere('GET', '/chain/tips', from(address))).status)
  t.deepEqual(statuses, [400, 429], 'who connects from another network is no proxy')
})

test('without TRUST_PROXY only what connects from a near address says who its clients are', (t) => {
  const found = (remoteAddress: string, forwarded: string, trust?: TrustProxy) => {
    const get = (name: string) => (name === 'X-Forwarded-For' ? forwarded : '')
    const ctx = { state: {}, req: { socket: { remoteAddress } }, get } as unknown as Context
    trustProxies(trust)(ctx, async () => undefined)
    return [clientAddress(ctx), clientNetwork(ctx)]
  }
  const chain = '198.51.100.9, 192.0.2.7'
  for (const near of ['127.0.0.1', '::1', '::ffff:10.1.2.3', '100.64.0.2'])
    t.deepEqual(found(near, chain), ['192.0.2.7', 'unknown'], near)
  t.deepEqual(found('203.0.113.5', chain), ['203.0.113.5', 'unknown'])
  t.deepEqual(found('203.0.113.5', ''), ['203.0.113.5', '203.0.113.5'])
  t.deepEqual(found('127.0.0.1', chain, 0), ['127.0.0.1', '127.0.0.1'], 'there is no proxy')
  t.deepEqual(found('127.0.0.1', chain, 1), ['192.0.2.7', '192.0.2.7'])
  t.deepEqual(found('203.0.113.5', chain, ['10.0.0.0/8']), ['203.0.113.5', 'unknown'], 'not a named one')
})

test('IPv6 callers are counted per /64 network', async (t) => {
  const request = await startLimited(t, { RATE_READS: '2' })
  const get = async (address: string) => (await request('GET', '/chain/tips', from(address))).status
  t.deepEqual(
    [await get('2001:db8::1'), await get('2001:DB8:0:0:ffff::2'), await get('2001:db8::3')],
    [400, 400, 429],
  )
  t.is(await get('2001:db8:0:1::1'), 400)
})

test('RATE_LIMIT_FACTOR scales every limit to at least one, and 0 disables the limits', async (t) => {
  const half = await startLimited(t, { RATE_READS: '5', RATE_LIMIT_FACTOR: '0.5' })
  t.is((await half('GET', '/chain/tips', from('192.0.2.1'))).headers['x-ratelimit-limit'], '3')
  const least = await startLimited(t, { RATE_READS: '5', RATE_LIMIT_FACTOR: '0.001' })
  t.is((await least('GET', '/chain/tips', from('192.0.2.1'))).headers['x-ratelimit-limit'], '1')
  const off = await startLimited(t, { RATE_READS: '1', RATE_LIMIT_FACTOR: '0' })
  for (let i = 0; i < 5; i++) {
    const { status, headers } = await off('GET', '/chain/tips', from('192.0.2.1'))
    t.is(status, 400)
    t.is(headers['x-ratelimit-limit'], undefined)
  }
})

test('pages of other sites can read the limit headers', async (t) => {
  const request = await startLimited(t, { RATE_INTENTS: '1' })
  const headers = { 'x-forwarded-for': '192.0.2.1', origin: 'https://page.example' }
  for (const status of [400, 429]) {
    const answer = await request('POST', '/payments/intent', { headers })
    t.is(answer.status, status)
    t.is(answer.headers['access-control-allow-origin'], '*')
    const exposed = String(answer.headers['access-control-expose-headers']).toLowerCase().split(',')
    for (const name of ['retry-after', 'x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'])
      t.true(exposed.includes(name), name)
  }
  const preflight = await request('OPTIONS', '/payments/intent', {
    headers: { ...headers, 'access-control-request-method': 'POST' },
  })
  t.is(preflight.status, 204, 'a preflight is not counted')
})

test('two processes share their counts through Redis', async (t) => {
  const env = {
    ...world().env,
    RATE_LIMIT_FACTOR: '1',
    RATE_INTENTS: '4',
    REDIS_URL: countsOf('limits-both'),
  }
  const both = await Promise.all(
    [env, env].map(async (settings) => {
      const { url, services } = await startApp(t, settings)
      await until('Redis is connected', async () => (await services.ready()) === 'ok')
      return createClient(url)
    }),
  )
  const statuses: number[] = []
  for (let i = 0; i < 4; i++)
    for (const request of both)
      statuses.push((await request('POST', '/payments/intent', { body: { inputTokenMint: solMint } })).status)
  // Each alone would let all eight through. When Redis does not answer in time one counts alone.
  t.deepEqual(statuses.slice(0, 4), [400, 400, 400, 400])
  t.true(statuses.includes(429), statuses.join())
})
