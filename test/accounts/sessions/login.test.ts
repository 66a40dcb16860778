import { performance } from 'node:perf_hooks'
import test from 'ava'
import { patient } from '../../../scripts/kit/patient-pool.js'
import { redisUrlWith } from '../../../scripts/kit/service-settings.js'
import { createClient } from '../../helpers/http/client.js'
import { type EnteredBody, freshEmail, type Person, registerPerson } from '../../helpers/make/creators.js'
import { startApp } from '../../helpers/servers/serve-app.js'
import { useWorld } from '../../helpers/servers/world.js'
import { until } from '../../helpers/until.js'

const world = useWorld(test)
/** Enough for four hundred hashes on a loaded machine. */
const timingTimeoutMs = 120_000

function login(email: unknown, password: unknown) {
  return world().request('POST', '/auth/login', { body: { email, password } })
}

async function timeLogin(email: string, password: string): Promise<number> {
  const startedAt = performance.now()
  await login(email, password)
  return performance.now() - startedAt
}

/** The value below which this part of an unsorted sample lies. */
function quantile(values: readonly number[], part: number): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length * part)] ?? Number.NaN
}

function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

/** The standard error of the median, from the interquartile range, which outliers do not affect. */
function errorOfMedian(values: readonly number[]): number {
  return (0.93 * (quantile(values, 0.75) - quantile(values, 0.25))) / Math.sqrt(values.length)
}

test('a wrong password, an unknown e-mail and an invalid e-mail get the same answer', async (t) => {
  const { email, password } = await registerPerson(world())
  const attempts = [
    [email, 'wrong'],
    [email, `${password} `],
    [email, `${password}\u0000`],
    [email, 'x'.repeat(50_000)],
    [freshEmail(), password],
    ['not an e-mail', password],
    [`${email}\u0000`, password],
  ] as const
  for (const [name, secret] of attempts) {
    const answer = await login(name, secret)
    t.is(answer.status, 401)
    t.is(answer.body.error, 'Invalid credentials')
    t.is(answer.session, undefined)
  }
})

// Serial, because these tests measure time and would disturb each other.
test.serial('the times of logins do not reveal whether an e-mail has an account', async (t) => {
  t.timeout(timingTimeoutMs)
  const { email } = await registerPerson(world())
  const times: Record<'wrong' | 'unknown', number[]> = { wrong: [], unknown: [] }
  const rounds = process.env['TEST_RUNS'] === 'all' ? 200 : 80
  for (let round = 0; round < rounds; round++) {
    times.wrong.push(await timeLogin(email, 'wrong password'))
    times.unknown.push(await timeLogin(freshEmail(), 'wrong password'))
  }
  const [wrong, unknown] = [median(times.wrong), median(times.unknown)]
  const noise = Math.hypot(errorOfMedian(times.wrong), errorOfMedian(times.unknown))
  t.log(
    `wrong password ${wrong.toFixed(2)} ms, unknown e-mail ${unknown.toFixed(2)} ms, noise ${noise.toFixed(2)} ms`,
  )
  t.true(Math.abs(unknown - wrong) < 6 * noise + wrong / 20)
})

test.serial('a huge password takes as long as a wrong password', async (t) => {
  const { email } = await registerPerson(world())
  const times: Record<'wrong' | 'huge', number[]> = { wrong: [], huge: [] }
  const huge = 'x'.repeat(50_000)
  for (let round = 0; round < 15; round++) {
    times.wrong.push(await timeLogin(email, 'wrong password'))
    times.huge.push(await timeLogin(email, huge))
  }
  const ratio = median(times.huge) / median(times.wrong)
  t.log(`${median(times.huge).toFixed(1)} ms against ${median(times.wrong).toFixed(1)} ms`)
  t.true(ratio > 0.4 && ratio < 2.5, `a huge password takes ${ratio.toFixed(2)} of a wrong password's time`)
})

test.serial('fifty concurrent logins do not block the event loop', async (t) => {
  const person: Person = await registerPerson(world())
  const shares: number[] = []
  for (let round = 0; round < 3; round++) {
    const before = performance.eventLoopUtilization()
    const answers = await Promise.all(Array.from({ length: 50 }, () => login(person.email, person.password)))
    shares.push(performance.eventLoopUtilization(before).utilization)
    t.true(answers.every(({ status }) => status === 200))
  }
  t.log(`event loop busy ${shares.map((share) => Math.round(share * 100)).join(', ')} %`)
  // A hash in the event loop keeps it busy all the time. The client of this test runs in the same loop; the least loaded round counts.
  t.true(Math.min(...shares) < 0.85, `the event loop was busy ${shares}`)
})

test.serial('14.11 four hundred logins of one address do not refuse another’s password', async (t) => {
  const { email, password } = await registerPerson(world())
  const app = await startApp(t, { ...world().env, TRUST_PROXY: 'true' })
  patient(app.services.db)
  const request = await createClient(app.url)
  const from = (address: string) => ({ 'x-forwarded-for': address })
  const body = { email: freshEmail(), password: 'whatever it is' }
  const flood = Array.from({ length: 400 }, () =>
    request('POST', '/auth/login', { headers: from('192.0.2.1'), body }),
  )
  // Once passwords wait, not their statements.
  await Promise.any(
    flood.map(async (one) => {
      if ((await one).status !== 503) throw new Error('not yet')
    }),
  )
  const other = await request('POST', '/auth/login', {
    headers: from('192.0.2.2'),
    body: { email, password },
  })
  t.is(other.status, 200)
  const statuses = new Set((await Promise.all(flood)).map(({ status }) => status))
  t.deepEqual(statuses, new Set([401, 503]), 'the flood was above the limit')
})

test.serial('without TRUST_PROXY one client of a proxy locks nobody out, and the log says so', async (t) => {
  const { email, password } = await registerPerson(world())
  const { REDIS_URL: url = '' } = world().env
  const REDIS_URL = redisUrlWith(url, { namespace: 'unnamed' })
  const app = await startApp(t, { ...world().env, RATE_LIMIT_FACTOR: '1', REDIS_URL })
  const warned: unknown[] = []
  app.services.log.warn = (text: unknown) => warned.push(text)
  const request = await createClient(app.url)
  const loginFrom = async (address: string, body: object) => {
    const headers = { 'x-forwarded-for': address }
    return (await request('POST', '/auth/login', { headers, body })).status
  }
  const wrong = { email, password: 'a wrong one' }
  const flood = await Promise.all(Array.from({ length: 400 }, () => loginFrom('192.0.2.1', wrong)))
  t.true(flood.includes(429))
  for (let n = 0; n < 12; n++) t.is(await loginFrom(`192.0.2.${n + 2}`, { email, password }), 200)
  t.is(warned.filter((text) => /TRUST_PROXY/.test(String(text))).length, 1)
})

test.serial(
  'logins beyond the waiting limit answer 503, which is one line a minute, and no other fails',
  async (t) => {
    const app = await startApp(t, world().env)
    patient(app.services.db)
    const lines: unknown[][] = []
    const request = await createClient(app.url)
    const { log } = app.services
    for (const level of ['info', 'warn', 'error'] as const)
      log[level] = (...line: unknown[]) => lines.push(line)
    const body = { email: freshEmail(), password: 'whatever it is' }
    const answers = await Promise.all(
      Array.from({ length: 400 }, () => request('POST', '/auth/login', { body })),
    )
    const shed = answers.filter(({ status }) => status === 503)
    t.true(shed.length > 1)
    t.true(answers.every(({ status }) => status === 401 || status === 503))
    t.is(shed[0]?.body.error, 'Service unavailable')
    t.is(lines.length - (answers.length - shed.length), 1, `${shed.length} were shed`)
    t.is((await request('POST', '/auth/login', { body })).status, 401)
  },
)

const refused = 'Invalid payload: Name must be 2-100 characters and password min 8 characters.'

function valid() {
  return { email: freshEmail(), password: 'long enough', name: 'Ada Lovelace' }
}

test('registration creates the wallet row and the party of the account', async (t) => {
  const { user } = await registerPerson(world())
  const wallets = await world().db('wallets').where({ user_id: user.id })
  t.is(wallets.length, 1)
  t.not(wallets[0].due_at, null)
  t.is((await world().db('parties').where({ user_id: user.id })).length, 1)
})

for (const [what, change] of Object.entries({
  'an e-mail that is no text': { email: ['a@example.com'] },
  'an e-mail with a NUL': { email: 'a\u0000da@example.com' },
  'an e-mail over 254 characters': { email: `${'a'.repeat(250)}@example.com` },
  'a password of seven emoji': { password: '🔑'.repeat(7) },
  'a password of 257 characters': { password: 'x'.repeat(257) },
  'a name of one emoji': { name: '🦊' },
  'a name of blanks': { name: '   \t ' },
  'a name of control and direction marks': { name: '\u202e\u0007\u2066A\u2069' },
  'a name that is an object': { name: { first: 'Ada' } },
}))
  test(`registration refuses ${what}`, async (t) => {
    const answer = await world().request('POST', '/auth/register', { body: { ...valid(), ...change } })
    t.is(answer.status, 400)
    t.is(answer.body.error, refused)
    t.is(answer.session, undefined)
  })

for (const [what, change] of Object.entries({
  'a password of blanks, which is not trimmed': { password: '        ' },
  'a password of 256 characters': { password: 'x'.repeat(256) },
  'a name of 100 emoji': { name: '🦊'.repeat(100) },
  'unknown fields': { roles: ['admin'], id: 'mine', __proto__: { admin: true } },
}))
  test(`registration accepts ${what}`, async (t) => {
    const body = { ...valid(), ...change }
    const answer = await world().request<EnteredBody>('POST', '/auth/register', { body })
    t.is(answer.status, 200)
    t.is(answer.body.user.name, body.name)
    t.deepEqual(answer.body.user.roles, ['user'])
    const { email, password } = body
    t.is((await world().request('POST', '/auth/login', { body: { email, password } })).status, 200)
  })

test('control and direction marks are removed from a name', async (t) => {
  const body = { ...valid(), name: 'A\u202ed\u0000a\u2069 L' }
  const answer = await world().request<EnteredBody>('POST', '/auth/register', { body })
  t.is(answer.body.user.name, 'Ada L')
})

// Serial, because it fills the queue for password hashing.
test.serial('of a hundred concurrent registrations of one e-mail one succeeds', async (t) => {
  const body = valid()
  const answers = await Promise.all(
    Array.from({ length: 100 }, () => world().request('POST', '/auth/register', { body })),
  )
  const statuses = answers.map(({ status }) => status).sort()
  t.deepEqual(statuses, [200, ...Array.from({ length: 99 }, () => 409)])
  const users = await world().db('users').where({ email: body.email })
  t.is(users.length, 1)
  t.is((await world().db('sessions').where({ user_id: users[0].id })).length, 1)
})

test('a factor that is added while a login waits for the account is asked for', async (t) => {
  const { user, email, password } = await registerPerson(world())
  const { db } = world()
  const trx = await db.transaction()
  await trx('users')
    .where({ id: user.id })
    .update({ factors_changed_at: db.raw('clock_timestamp()') })
  const [credential_id, public_key] = [Buffer.from(user.id), Buffer.from('key')]
  await trx('passkeys').insert({ user_id: user.id, credential_id, public_key, label: 'key' })
  const answer = login(email, password)
  const waits = db('pg_stat_activity')
    .where({ wait_event_type: 'Lock' })
    .whereLike('query', '%password_hash = $11%')
  await until('the login waits for the account', async () => (await waits.clone()).length > 0)
  await trx.commit()
  t.like(await answer, { status: 401, session: undefined })
  t.is((await db('sessions').where({ user_id: user.id })).length, 1, 'that of the registration')
})

test('the database stores a hash, not the password', async (t) => {
  const { user, password } = await registerPerson(world())
  const row = await world().db('users').where({ id: user.id }).first()
  t.regex(row.password_hash, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  t.false(JSON.stringify(row).includes(password))
})
