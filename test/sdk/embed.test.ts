import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'ava'
import { revokeApiKey } from '../../src/creators/api-keys.js'
import { deleteOldSdkSessions } from '../../src/sdk/sessions/session.js'
import { ageSession, createSession, type InitBody, registerEmbedder, site } from '../helpers/make/sdk.js'
import { unusedWallet } from '../helpers/make/supporter.js'
import { as } from '../helpers/servers/roles.js'
import { useWorld } from '../helpers/servers/world.js'

const world = useWorld(test)

const pathOf = ({ config }: InitBody): string => {
  const { pathname, search } = new URL(config.embedUrl)
  return pathname + search
}
/** Uses fetch, because the test client handles JSON only. */
async function open(path: string) {
  const response = await fetch(`${world().url}${path}`, { headers: { connection: 'close' } })
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: await response.text(),
  }
}

test("only the session's site may frame an embed", async (t) => {
  const embedder = await registerEmbedder(world())
  for (const originUrl of [
    'https://shop.example/tips?x=1',
    'https://a.sites.example:8443',
    'http://localhost:5173',
  ]) {
    const { body } = await world().request<InitBody>('POST', '/sdk/init', {
      bearer: embedder.apiKey,
      body: { creatorId: embedder.id, originUrl, theme: 'light' },
    })
    const { status, headers, body: page } = await open(pathOf(body))
    t.is(status, 200)
    t.regex(headers['content-type'] ?? '', /^text\/html/)
    const policy = headers['content-security-policy'] ?? ''
    t.true(policy.includes(`; frame-ancestors ${new URL(originUrl).origin};`), policy)
    t.regex(policy, /^default-src 'none'; script-src 'self'; style-src 'self';/)
    t.true(policy.includes(`; connect-src 'self' ${world().env['SOLANA_RPC_URLS']};`), policy)
    t.regex(policy, /require-trusted-types-for 'script'/)
    t.notRegex(policy, /unsafe|\*/)
    t.is(headers['x-frame-options'], undefined)
    t.is(headers['referrer-policy'], 'no-referrer')
    t.is(headers['x-content-type-options'], 'nosniff')
    t.is(headers['cross-origin-opener-policy'], 'unsafe-none')
    t.is(headers['cache-control'], 'no-store')
    t.regex(page, /data-theme="light"/)
    t.false(page.includes(body.sessionToken))
  }
})

test('an expired or unknown embed is a page that no site may frame', async (t) => {
  const embedder = await registerEmbedder(world())
  const session = await createSession(world(), embedder)
  await ageSession(world(), session.sessionToken, 74)
  t.is((await open(pathOf(session))).status, 200)
  await ageSession(world(), session.sessionToken, 2)
  for (const path of [pathOf(session), '/embed/x', '/embed/%00', `/embed/${session.sessionToken}`]) {
    const { status, headers, body } = await open(path)
    t.is(status, 404, path)
    t.regex(headers['content-type'] ?? '', /^text\/html/)
    t.regex(headers['content-security-policy'] ?? '', /frame-ancestors 'none'$/)
    t.regex(body, /This tip link has expired/)
  }
})

for (const path of [
  '/sdk/init',
  '/sdk/tip',
  '/sdk/events',
  '/sdk/session',
  '/sdk/intents/pi_1',
  '/sdk/handoff',
  '/pay/x',
])
  test(`CORS lets pages of any origin use ${path}, without credentials`, async (t) => {
    const preflight = await world().request<string>('OPTIONS', path, {
      headers: {
        origin: 'https://anywhere.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type',
      },
    })
    t.is(preflight.status, 204)
    t.is(preflight.headers['access-control-allow-origin'], '*')
    t.is(preflight.headers['access-control-allow-headers'], 'authorization,content-type')
    t.regex(preflight.headers['access-control-allow-methods'] ?? '', /GET,POST/)
    t.is(preflight.headers['access-control-allow-credentials'], undefined)
    const refusal = await world().request('GET', path, { headers: { origin: 'https://anywhere.example' } })
    t.true(refusal.status >= 400)
    t.is(refusal.headers['access-control-allow-origin'], '*')
    t.is(
      refusal.headers['access-control-expose-headers'],
      'X-Request-Id,Idempotency-Hit,Retry-After,X-RateLimit-Limit,X-RateLimit-Remaining,X-RateLimit-Reset,RateLimit-Policy,RateLimit',
    )
  })

test('any site may load embed.js, and keeps it for five minutes', async (t) => {
  const { status, headers, body } = await open('/embed.js')
  t.is(status, 200)
  t.is(headers['cache-control'], 'public, max-age=300')
  t.is(headers['access-control-allow-origin'], '*')
  t.true(body.includes('export'))
})

test('sessions are deleted a day after they expired', async (t) => {
  const embedder = await registerEmbedder(world())
  const [old, recent] = await Promise.all([
    createSession(world(), embedder),
    createSession(world(), embedder),
  ])
  for (const { sessionToken } of [old, recent])
    await world().request('POST', '/sdk/handoff', { bearer: sessionToken })
  await ageSession(world(), old.sessionToken, 24 * 60 + 16)
  await ageSession(world(), recent.sessionToken, 23 * 60)
  t.is(await deleteOldSdkSessions(as('clock', world().services).db), 1)
  const left = await world().db('sdk_sessions').where({ user_id: embedder.id }).select('embed_id')
  t.deepEqual(
    left.map(({ embed_id }) => embed_id),
    [new URL(recent.config.embedUrl).pathname.slice('/embed/'.length)],
  )
})

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
