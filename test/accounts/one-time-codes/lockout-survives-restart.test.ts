import test, { type ExecutionContext } from 'ava'
import { createClient, type Request } from '../../helpers/http/client.js'
import { type Person, registerPerson } from '../../helpers/make/creators.js'
import {
  deliverEmail,
  mailerBatch,
  requestCode,
  wrongCode,
} from '../../helpers/make/sign-in/emailed-codes.js'
import { type PrivateRedis, privateRedis } from '../../helpers/servers/private-redis.js'
import { type ServedApp, startApp } from '../../helpers/servers/serve-app.js'
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

function start(body: unknown) {
  return world().request('POST', '/auth/otp/start', { body })
}

function emailRows(recipient: string) {
  return world().db('emails').where({ recipient }).orderBy('created_at')
}

test('the e-mail does not contain the account name, which another person may have chosen', async (t) => {
  const person = await registerPerson(world(), 'Your account is closed, see evil.example')
  await requestCode(world(), person)
  const [mail] = world().mail.received(person.email)
  t.false(JSON.stringify(mail).includes('evil.example'))
})

test('start refuses requests from pages of other sites', async (t) => {
  const { email } = await registerPerson(world())
  for (const headers of [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }]) {
    const answer = await world().request('POST', '/auth/otp/start', { body: { email }, headers })
    t.is(answer.status, 403)
    t.is(answer.body.error, 'Forbidden')
  }
  t.deepEqual(await emailRows(email), [])
})

// Serial, so that no other test's batch sends these e-mails.
test.serial('a new code replaces an e-mail that is not sent yet', async (t) => {
  const { email } = await registerPerson(world())
  for (let n = 0; n < 3; n++) await start({ email })
  const rows = await emailRows(email)
  t.is(rows.filter(({ due_at }) => due_at !== null).length, 1)
  for (const { due_at, body, last_error } of rows.slice(0, 2))
    t.deepEqual([due_at, body, last_error], [null, null, 'replaced'])
})

test.serial('after concurrent starts the last code is valid, and only one e-mail is due', async (t) => {
  const person = await registerPerson(world())
  const answers = await Promise.all(Array.from({ length: 30 }, () => start({ email: person.email })))
  t.true(answers.every(({ status }) => status === 200))
  t.is((await emailRows(person.email)).filter(({ due_at }) => due_at !== null).length, 1)
  const { text } = await deliverEmail(world(), person.email)
  const code = /\b[0-9]{6}\b/.exec(text)?.[0]
  const { status } = await world().request('POST', '/auth/otp/verify', {
    body: { email: person.email, code },
  })
  t.is(status, 200)
})

test('the database does not contain a code in clear after its e-mail is sent', async (t) => {
  const person = await registerPerson(world())
  const code = await requestCode(world(), person)
  const secrets = world().db('one_time_secrets').where({ user_id: person.user.id, purpose: 'sign_in_code' })
  const rows = [
    ...(await emailRows(person.email)),
    ...(await secrets.select('hash', 'subject', 'content', 'sealed')),
  ]
  t.is(rows.length, 2)
  t.false(JSON.stringify(rows).includes(code))
  t.not(rows[0].sent_at, null)
  t.is(rows[1].hash.length, 32)
})
