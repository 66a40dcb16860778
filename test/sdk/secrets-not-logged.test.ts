import { spawn } from 'node:child_process'
import { once } from 'node:events'
import test, { type ExecutionContext } from 'ava'
import { freePort } from '../../scripts/dev/ports.js'
import { solMint } from '../../src/kernel/tokens.js'
import { createSession, registerEmbedder, sdkTipBody } from '../helpers/make/sdk.js'
import { unusedWallet } from '../helpers/make/supporter.js'
import { monitorRedis } from '../helpers/servers/private-redis.js'
import { startMs } from '../helpers/servers/service-process.js'
import { useWorld } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'

const world = useWorld(test, { chain: true })

/** Starts a web process with trace logging. */
async function startTracing(t: ExecutionContext): Promise<{ url: string; log: () => string }> {
  const port = await freePort()
  // With limits, because the count per API key goes to Redis.
  const own = { PORT: String(port), LOG_LEVEL: 'trace', RATE_LIMIT_FACTOR: '20' }
  const env = { ...process.env, ...world().env, ...own }
  const web = spawn(process.execPath, ['dist/src/web.js'], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let log = ''
  for (const output of [web.stdout, web.stderr])
    output.on('data', (chunk: Buffer) => (log += chunk.toString()))
  t.teardown(async () => {
    web.kill('SIGTERM')
    if (web.exitCode === null) await once(web, 'exit')
  })
  await until('the process listens', () => log.includes('listening'), startMs)
  return { url: `http://127.0.0.1:${port}`, log: () => log }
}

test('keys, tokens and codes do not appear in logs, Redis commands, error texts or tables', async (t) => {
  t.timeout(2 * startMs)
  const embedder = await registerEmbedder(world())
  const { sessionToken, config } = await createSession(world(), embedder)
  const { url, log } = await startTracing(t)
  const redisCommands = await monitorRedis(t, world().env['REDIS_URL'] ?? '')
  const refusals: string[] = []

  async function send(method: 'GET' | 'POST', path: string, bearer: string, body?: unknown) {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json', connection: 'close' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (response.status >= 400) refusals.push(text)
    return { status: response.status, answer: text.startsWith('{') ? JSON.parse(text) : {} }
  }

  const { id, apiKey } = embedder
  t.is(
    (await send('POST', '/sdk/init', apiKey, { creatorId: id, originUrl: 'http://localhost' })).status,
    200,
  )
  t.is((await send('GET', `/sdk/events?creatorId=${id}`, apiKey)).status, 200)
  const { answer: made } = await send('POST', '/sdk/tip', sessionToken, sdkTipBody(embedder))
  t.is((await send('GET', `/sdk/intents/${made.intentId}`, sessionToken)).status, 200)
  const { answer: plain } = await send('POST', '/sdk/handoff', sessionToken, {})
  const { answer: link } = await send('POST', '/sdk/handoff', sessionToken, {
    amount: 5,
    inputTokenMint: solMint,
  })
  t.is((await send('GET', `/pay/${link.code}`, '')).status, 200)
  t.is((await send('POST', `/pay/${link.code}`, '', { account: unusedWallet() })).status, 200)
  t.is((await send('POST', '/sdk/handoff/redeem', '', { code: plain.code })).status, 200)
  t.is((await send('GET', new URL(config.embedUrl).pathname, '')).status, 200)
  // The same secrets in wrong places and in requests that fail.
  await send('POST', '/sdk/handoff/redeem', '', { code: plain.code })
  await send('POST', '/sdk/tip', apiKey, { apiKey, creatorId: apiKey })
  await send('POST', '/sdk/tip', sessionToken, { creatorId: sessionToken, amount: sessionToken })
  await send('POST', '/sdk/init', sessionToken, { creatorId: apiKey, originUrl: apiKey })
  await send('GET', `/sdk/events?creatorId=${apiKey}&since=${apiKey}&apiKey=${apiKey}`, apiKey)
  for (const path of [
    `/pay/${link.code}/x`,
    `/pay/x${link.code}`,
    `//pay/${link.code}`,
    `/PAY/${link.code}`,
  ]) {
    await send('GET', path, '')
    await send('POST', path, '', {})
  }

  const tables = await Promise.all(
    ['api_keys', 'sdk_sessions', 'one_time_secrets', 'payment_intents'].map((name) =>
      world().db.raw(`select ${name}::text from ${name}`),
    ),
  )
  const places = {
    log: log(),
    redis: redisCommands(),
    refusals: refusals.join('\n'),
    tables: JSON.stringify(tables.map(({ rows }) => rows)),
  }
  t.true(places.log.split('\n').length > 20, 'the log was read')
  t.true(places.tables.includes(id), 'the tables were read')
  t.true(places.redis.includes(':limit:apiKey:'), 'Redis was monitored')
  const secrets = {
    'the API key': apiKey.split('_').slice(3).join('_'),
    'the session token': sessionToken.slice('sdk_sess_'.length),
    'a handoff code': plain.code,
    'the code of a payment link': link.code,
  }
  for (const [place, text] of Object.entries(places))
    for (const [what, secret] of Object.entries(secrets)) {
      t.true(secret.length > 30)
      t.false(text.includes(secret), `${what} is in the ${place}`)
    }
})
