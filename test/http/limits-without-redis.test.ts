import test, { type ExecutionContext } from 'ava'
import { createClient, type Request } from '../helpers/http/client.js'
import { freshEmail } from '../helpers/make/creators.js'
import { type PrivateRedis, privateRedis } from '../helpers/servers/private-redis.js'
import { startApp } from '../helpers/servers/serve-app.js'
import { useWorld } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'

const world = useWorld(test)

/** The time a limit may add to a request when Redis does not answer, on top of the usual response time. */
const mostAddedMs = 3000

async function startLimited(t: ExecutionContext): Promise<{ request: Request; redis: PrivateRedis }> {
  const redis = await privateRedis(t)
  const env = { ...world().env, REDIS_URL: redis.url, RATE_LIMIT_FACTOR: '1', TRUST_PROXY: 'true' }
  const { url, services } = await startApp(t, { ...env, RATE_INTENTS: '5', RATE_LOGIN: '3' })
  await until('Redis is connected', async () => (await services.ready()) === 'ok')
  return { request: await createClient(url), redis }
}

/** Sends empty intent requests one after another. Returns their statuses and the slowest response time. */
async function sendMany(request: Request, address: string, times: number) {
  const statuses: number[] = []
  let slowestMs = 0
  for (let i = 0; i < times; i++) {
    const startedAt = performance.now()
    const headers = { 'x-forwarded-for': address }
    statuses.push((await request('POST', '/payments/intent', { headers })).status)
    slowestMs = Math.max(slowestMs, performance.now() - startedAt)
  }
  return { statuses, slowestMs }
}

for (const fault of ['killed', 'frozen'] as const)
  test(`with Redis ${fault} the process keeps its counts and enforces the limits without delay`, async (t) => {
    const { request, redis } = await startLimited(t)
    const before = await sendMany(request, '192.0.2.1', 3)
    t.deepEqual(before.statuses, [400, 400, 400])
    if (fault === 'killed') await redis.kill()
    else redis.freeze()
    const known = await sendMany(request, '192.0.2.1', 4)
    t.deepEqual(known.statuses, [400, 400, 429, 429])
    const unknown = await sendMany(request, '192.0.2.2', 6)
    t.deepEqual(unknown.statuses, [400, 400, 400, 400, 400, 429])
    const slowestMs = Math.max(known.slowestMs, unknown.slowestMs)
    t.true(slowestMs < mostAddedMs + before.slowestMs, `${slowestMs} ms`)
    t.log(`slowest answer ${Math.round(slowestMs)} ms, before the fault ${Math.round(before.slowestMs)} ms`)
  })

test('a flushed Redis does not reset the counts of a process', async (t) => {
  const { request, redis } = await startLimited(t)
  t.is((await sendMany(request, '192.0.2.1', 6)).statuses.at(-1), 429)
  await redis.command('FLUSHALL')
  t.deepEqual((await sendMany(request, '192.0.2.1', 2)).statuses, [429, 429])
})

test('keys in Redis contain no e-mail and expire', async (t) => {
  const { request, redis } = await startLimited(t)
  const email = freshEmail()
  t.is((await request('POST', '/auth/login', { body: { email, password: 'wrong' } })).status, 401)
  await sendMany(request, '192.0.2.1', 1)
  const keys = ((await redis.command('KEYS', '*')) as string[]).filter((key) => key.includes(':limit:'))
  t.is(keys.length, 3, 'reads, logins, and sign-ins of the address')
  for (const key of keys) {
    t.false(key.includes(email) || key.includes(email.split('@')[0] ?? email), key)
    t.true(((await redis.command('TTL', key)) as number) > 0, key)
  }
})
