import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'ava'
import { revokeApiKey } from '../../src/creators/api-keys.js'
import { replaceSites } from '../../src/creators/sites.js'
import { badBodies } from '../helpers/http/hostile-input.js'
import { registerCreator, registerPerson } from '../helpers/make/creators.js'
import { createSession, type InitBody, registerEmbedder, site } from '../helpers/make/sdk.js'
import { unusedWallet } from '../helpers/make/supporter.js'
import { publicUrl, useWorld } from '../helpers/servers/world.js'

const world = useWorld(test, { env: { WALLET_WAIT_MS: '300' } })
const init = (bearer: string | undefined, body: unknown) =>
  world().request('POST', '/sdk/init', { body, ...(bearer === undefined ? {} : { bearer }) })

test('POST /sdk/init answers a session token, the creator and the embed URL', async (t) => {
  const embedder = await registerEmbedder(world(), { acceptedTokens: ['SOL', 'USDC'] })
  const { sessionToken, config } = await createSession(world(), embedder)
  t.regex(sessionToken, /^sdk_sess_[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  const { embedUrl, ...rest } = config
  const { wallet } = embedder
  t.deepEqual(rest, {
    creatorId: embedder.id,
    creatorAddress: `${wallet.slice(0, 4)}...${wallet.slice(-4)}`,
    acceptedTokens: ['SOL', 'USDC'],
  })
  const url = new URL(embedUrl)
  t.is(url.origin, publicUrl)
  t.regex(url.pathname, /^\/embed\/[\w-]{43}$/)
  t.is(url.search, '?theme=dark')
  t.is(url.hash, `#${sessionToken}`)
})

test('a session is stored without its token and expires after fifteen minutes', async (t) => {
  const embedder = await registerEmbedder(world())
  const { sessionToken } = await createSession(world(), embedder)
  const row = await world()
    .db('sdk_sessions')
    .where({ user_id: embedder.id })
    .first(world().db.raw('*, extract(epoch from expires_at - created_at)::float8 as seconds'))
  t.true(Math.abs(row.seconds - 900) < 1, String(row.seconds))
  t.is(row.origin, site)
  t.false(JSON.stringify(row).includes(sessionToken.slice('sdk_sess_'.length)))
})

test('creatorId may be a user id, with or without auth_, or a wallet', async (t) => {
  const { id, wallet, apiKey } = await registerEmbedder(world())
  for (const creatorId of [id, id.toUpperCase(), `auth_${id}`, wallet]) {
    const answer = await world().request<InitBody>('POST', '/sdk/init', {
      bearer: apiKey,
      body: { creatorId, originUrl: site },
    })
    t.is(answer.status, 200, creatorId)
    t.is(answer.body.config.creatorId, id)
    t.is(answer.headers['cache-control'], 'no-store')
  }
})

test('any theme except light is dark', async (t) => {
  const { id, apiKey } = await registerEmbedder(world())
  for (const [theme, expected] of [
    ['light', 'light'],
    ['dark', 'dark'],
    ['pink', 'dark'],
    ['"><script>', 'dark'],
    [7, 'dark'],
    [null, 'dark'],
  ] as const) {
    const answer = await world().request<InitBody>('POST', '/sdk/init', {
      bearer: apiKey,
      body: { creatorId: id, originUrl: site, theme },
    })
    t.is(answer.status, 200)
    t.is(new URL(answer.body.config.embedUrl).searchParams.get('theme'), expected)
  }
})

test('errors come in the order: no key, fields, unknown key, creator, origin', async (t) => {
  const { id, apiKey } = await registerEmbedder(world())
  const unknown = `tk_live_${'0'.repeat(16)}_${'x'.repeat(43)}`
  const good = { creatorId: id, originUrl: site }
  const table: [bearer: string | undefined, body: unknown, status: number, error: string][] = [
    [undefined, {}, 401, 'Missing or invalid API key'],
    [undefined, good, 401, 'Missing or invalid API key'],
    ['x'.repeat(19), {}, 401, 'Missing or invalid API key'],
    [unknown, {}, 400, 'creatorId and originUrl are required'],
    [unknown, { creatorId: id }, 400, 'creatorId and originUrl are required'],
    [unknown, { ...good, originUrl: '' }, 400, 'creatorId and originUrl are required'],
    [unknown, { ...good, creatorId: 7 }, 400, 'creatorId and originUrl are required'],
    [unknown, good, 401, 'Missing or invalid API key'],
    ['x'.repeat(20), good, 401, 'Missing or invalid API key'],
    [apiKey.slice(0, -1), good, 401, 'Missing or invalid API key'],
    [`${apiKey}x`, good, 401, 'Missing or invalid API key'],
    [apiKey.toUpperCase(), good, 401, 'Missing or invalid API key'],
    [apiKey, { creatorId: 'nobody', originUrl: 'https://evil.com' }, 404, 'Creator not found'],
    [apiKey, { ...good, originUrl: 'https://evil.com' }, 403, 'Unauthorized Origin'],
    [apiKey, { ...good, originUrl: 'shop.example' }, 403, 'Unauthorized Origin'],
    [
      apiKey,
      { ...good, originUrl: `https://shop.example/${'a'.repeat(40_000)}` },
      403,
      'Unauthorized Origin',
    ],
  ]
  for (const [bearer, body, status, error] of table) {
    const answer = await init(bearer, body)
    t.is(answer.status, status, JSON.stringify(body).slice(0, 100))
    t.is(answer.body.error, error)
  }
})

for (const [what, options] of Object.entries(badBodies))
  test(`POST /sdk/init answers its validation error to ${what}`, async (t) => {
    const bearer = 'any key of twenty characters'.replaceAll(' ', '_')
    const headers = { authorization: `Bearer ${bearer}`, ...options.headers }
    const sent = typeof options.body === 'string' ? options : { body: options.body, bearer }
    const answer = await world().request('POST', '/sdk/init', { ...sent, headers })
    t.is(answer.status, 400)
    t.is(answer.body.error, 'creatorId and originUrl are required')
  })

test('a key opens sessions for its owner only', async (t) => {
  const [{ apiKey }, other] = await Promise.all([registerEmbedder(world()), registerEmbedder(world())])
  await world().db('users').where({ id: other.id }).update({ twitter_handle: 'other_one' })
  for (const creatorId of [
    other.id,
    `auth_${other.id}`,
    other.wallet,
    unusedWallet(),
    '@other_one',
    'other_one',
  ]) {
    const answer = await init(apiKey, { creatorId, originUrl: site })
    t.is(answer.status, 404, creatorId)
    t.is(answer.body.error, 'Creator not found')
  }
})

test("the owner's handle is not accepted as creatorId", async (t) => {
  const { id, apiKey } = await registerEmbedder(world())
  await world().db('users').where({ id }).update({ twitter_handle: 'own_handle' })
  t.is((await init(apiKey, { creatorId: '@own_handle', originUrl: site })).status, 404)
})

test('a revoked key is refused immediately', async (t) => {
  const { id, apiKey, keyId } = await registerEmbedder(world())
  const body = { creatorId: id, originUrl: site }
  t.is((await init(apiKey, body)).status, 200)
  await revokeApiKey(world().services, id, keyId)
  const answer = await init(apiKey, body)
  t.is(answer.status, 401)
  t.is(answer.body.error, 'Missing or invalid API key')
})

test('cookies, access tokens and keys outside the Authorization header are refused', async (t) => {
  const { id, apiKey, session, accessToken } = await registerEmbedder(world())
  const body = { creatorId: id, originUrl: site, apiKey }
  const path = `/sdk/init?apiKey=${apiKey}`
  for (const options of [
    { body },
    { body, session },
    { body, bearer: accessToken },
    { body, headers: { authorization: apiKey } },
    { body, headers: { authorization: `Basic ${apiKey}` } },
    { body, headers: { 'x-api-key': apiKey } },
  ])
    t.is((await world().request('POST', path, options)).status, 401)
})

test('a site removed from the whitelist is refused', async (t) => {
  const { id, apiKey } = await registerEmbedder(world())
  await replaceSites(world().services, id, ['other.example'])
  t.is((await init(apiKey, { creatorId: id, originUrl: site })).status, 403)
  t.is((await init(apiKey, { creatorId: id, originUrl: 'http://localhost:5173' })).status, 200)
})

// Serial tests run first: the registrations of the others run the provisioner.
test.serial('init waits for a wallet that is being provisioned and then answers 409', async (t) => {
  const { apiKey } = await registerEmbedder(world())
  const { user } = await registerPerson(world())
  await world()
    .db('api_keys')
    .whereRaw('prefix = ?', [apiKey.split('_')[2] ?? ''])
    .update({ user_id: user.id })
  const answer = await init(apiKey, { creatorId: user.id, originUrl: 'http://localhost' })
  t.is(answer.status, 409)
  t.is(answer.body.error, 'Creator wallet is being provisioned')
  t.is((await init(apiKey, { creatorId: user.id, originUrl: 'https://evil.com' })).status, 403)
})

test('the origin is never fetched', async (t) => {
  let hits = 0
  const originServer = createServer((_, response) => {
    hits += 1
    response.end()
  })
  originServer.on('connection', () => {
    hits += 1
  })
  await new Promise<void>((done) => originServer.listen(0, '127.0.0.1', done))
  t.teardown(() => new Promise<void>((done) => originServer.close(() => done())))
  const { id, apiKey } = await registerEmbedder(world())
  const originUrl = `http://127.0.0.1:${(originServer.address() as AddressInfo).port}/page`
  const answer = await world().request<InitBody>('POST', '/sdk/init', {
    bearer: apiKey,
    body: { creatorId: id, originUrl },
  })
  t.is(answer.status, 200)
  await world().request('GET', new URL(answer.body.config.embedUrl).pathname)
  await world().request('GET', '/sdk/session', { bearer: answer.body.sessionToken })
  t.is(hits, 0)
})

test('a hundred concurrent requests open a hundred sessions', async (t) => {
  const embedder = await registerEmbedder(world())
  const opened = await Promise.all(Array.from({ length: 100 }, () => createSession(world(), embedder)))
  t.is(new Set(opened.map(({ sessionToken }) => sessionToken)).size, 100)
  t.is(new Set(opened.map(({ config }) => config.embedUrl.split('#')[0])).size, 100)
})

test('a user id is not accepted as an API key', async (t) => {
  const { user } = await registerCreator(world())
  t.is((await init(user.id, { creatorId: user.id, originUrl: site })).status, 401)
})
