import test, { type ExecutionContext } from 'ava'
import { createClient, type Request } from '../../helpers/http/client.js'
import { type Person, registerPerson } from '../../helpers/make/creators.js'
import { mailerBatch, requestCode, wrongCode } from '../../helpers/make/sign-in/emailed-codes.js'
import { type PrivateRedis, privateRedis } from '../../helpers/servers/private-redis.js'
import type { ServedApp } from '../../helpers/servers/serve-app.js'
import { startApp } from '../../helpers/servers/serve-app.js'
import { runBatch, useWorld } from '../../helpers/servers/world.js'
import { until } from '../../helpers/until.js'

const world = useWorld(test, { mail: true })

const locked = '429 Too many failed attempts. Account locked for 15 minutes.'

/** Starts an app that keeps its rate limits in the test's own Redis. */
async function startLimited(t: ExecutionContext, { url }: PrivateRedis): Promise<[ServedApp, Request]> {
  const app = await startApp(t, { ...world().env, REDIS_URL: url, RATE_LIMIT_FACTOR: '1' })
  await until('Redis is connected', async () => (await app.services.ready()) === 'ok')
  return [app, await createClient(app.url)]
}

async function verify(request: Request, { email }: Person, code: string): Promise<string> {
  const { status, body } = await request('POST', '/auth/otp/verify', { body: { email, code } })
  return `${status} ${body.error}`
}

async function login(request: Request, { email, password }: Person): Promise<number> {
  return (await request('POST', '/auth/login', { body: { email, password } })).status
}

test('the lock survives a flushed Redis, a new code and a restart, and login by password still works', async (t) => {
  const redis = await privateRedis(t)
  const [app, request] = await startLimited(t, redis)
  const person = await registerPerson(world())
  const code = await requestCode(world(), person)
  t.is(await login(request, person), 200)
  t.not(await redis.command('DBSIZE'), 0, 'there is something to flush')
  for (let n = 1; n <= 5; n++)
    t.is(await verify(request, person, wrongCode(code, n)), '400 Invalid or expired code')
  t.is(await verify(request, person, code), locked)

  t.is(await redis.command('FLUSHALL'), 'OK')
  t.is(await verify(request, person, code), locked, 'after the flush')
  t.is(await login(request, person), 200)

  const { email } = person
  t.is((await request('POST', '/auth/otp/start', { body: { email } })).status, 429)
  await runBatch(mailerBatch(world()))
  t.deepEqual(
    world()
      .mail.received(email)
      .map(({ subject }) => subject.split(' ')[1]),
    ['link', 'code'],
    'no code after the lock, but a link',
  )
  t.is(await verify(request, person, code), locked, 'after a request for a new code')

  await app.close()
  await redis.command('FLUSHALL')
  const [, restarted] = await startLimited(t, redis)
  t.is(await verify(restarted, person, code), locked, 'after the restart')
  t.is(await login(restarted, person), 200)
  t.is((await restarted('GET', '/auth/me', { session: person.session })).status, 200)
})
