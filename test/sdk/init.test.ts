import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'ava'
import { revokeApiKey } from '../../src/creators/api-keys.js'
import { registerPerson } from '../helpers/make/creators.js'
import { createSession, type InitBody, registerEmbedder, site } from '../helpers/make/sdk.js'
import { unusedWallet } from '../helpers/make/supporter.js'
import { useWorld } from '../helpers/servers/world.js'

const world = useWorld(test, { env: { WALLET_WAIT_MS: '300' } })
const init = (bearer: string | undefined, body: unknown) =>
  world().request('POST', '/sdk/init', { body, ...(bearer === undefined ? {} : { bearer }) })

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
