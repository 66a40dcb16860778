import { randomBytes } from 'node:crypto'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import test from 'ava'
import Koa from 'koa'
import { deleteExpired } from '../../../src/accounts/delete-expired.js'
import { requireSession, signedIn } from '../../../src/accounts/sessions/auth.js'
import { hashSecret } from '../../../src/kernel/ids.js'
import type { RequestOptions } from '../../helpers/http/client.js'
import { requestRaw } from '../../helpers/http/raw-request.js'
import { type EnteredBody, type Person, registerPerson, type UserBody } from '../../helpers/make/creators.js'
import { as } from '../../helpers/servers/roles.js'
import { startApp } from '../../helpers/servers/serve-app.js'
import { publicUrl, setRows, useWorld } from '../../helpers/servers/world.js'

const world = useWorld(test)

type Me = { readonly success: true; readonly user: Partial<UserBody> & { readonly id: string } }

function me(options: RequestOptions) {
  return world().request<Me>('GET', '/auth/me', options)
}

async function login(email: string, password: string, options: RequestOptions = {}) {
  return world().request<EnteredBody>('POST', '/auth/login', { ...options, body: { email, password } })
}

test('GET /auth/me without a valid credential answers 401', async (t) => {
  const { session, accessToken } = await registerPerson(world())
  const presented: RequestOptions[] = [
    {},
    { session: '' },
    { session: 'unknown' },
    { session: accessToken },
    { bearer: '' },
    { bearer: 'unknown' },
    { bearer: session },
    { headers: { authorization: `Basic ${accessToken}` } },
    { headers: { authorization: accessToken } },
    { headers: { authorization: `Bearer ${accessToken} and more` } },
    { headers: { cookie: `__Host-session=${session}` } },
  ]
  for (const options of presented) {
    const answer = await world().request('GET', '/auth/me', options)
    t.is(answer.status, 401, JSON.stringify(options))
    t.is(answer.body.error, 'Unauthorized')
  }
})

test('requireSession accepts a session cookie and refuses an access token', async (t) => {
  const { user, session, accessToken } = await registerPerson(world())
  const guard = requireSession(world().services)
  const admit = async (headers: Record<string, string>) => {
    const request = Object.assign(new IncomingMessage(new Socket()), { headers })
    const ctx = new Koa().createContext(request, new ServerResponse(request))
    await guard(ctx, async () => undefined)
    return signedIn(ctx).account.id
  }
  t.is(await admit({ cookie: `session=${session}` }), user.id)
  const unauthorized = { name: 'DomainError', message: 'Unauthorized' }
  await t.throwsAsync(admit({ authorization: `Bearer ${accessToken}` }), unauthorized)
  await t.throwsAsync(admit({ cookie: `session=${accessToken}` }), unauthorized)
  await t.throwsAsync(admit({}), unauthorized)
})

test('a valid cookie takes precedence over an access token of another account', async (t) => {
  const [ada, bob] = await Promise.all([registerPerson(world()), registerPerson(world())])
  t.is((await me({ session: ada.session, bearer: bob.accessToken })).body.user.id, ada.user.id)
  t.is((await me({ session: 'dead', bearer: bob.accessToken })).body.user.id, bob.user.id)
})

test('a login opens a new session and ends the presented session with its access token', async (t) => {
  const { email, password, session, accessToken } = await registerPerson(world())
  const answer = await login(email, password, { session })
  t.is(answer.status, 200)
  t.not(answer.session, session)
  t.is((await me({ session })).status, 401)
  t.is((await me({ bearer: accessToken })).status, 401)
  t.is((await me({ session: answer.session })).status, 200)
})

test('a login without the cookie and a failed login keep an open session', async (t) => {
  const { email, password, session } = await registerPerson(world())
  t.is((await login(email, password)).status, 200)
  t.is((await login(email, 'wrong password', { session })).status, 401)
  t.is((await me({ session })).status, 200)
})

test('a login does not adopt a session token chosen by the caller', async (t) => {
  const { email, password } = await registerPerson(world())
  const planted = randomBytes(32).toString('base64url')
  const answer = await login(email, password, { session: planted })
  t.not(answer.session, planted)
  t.is((await me({ session: planted })).status, 401)
})

test('a session ends at its idle limit and at its absolute limit', async (t) => {
  for (const column of ['idle_until', 'absolute_until']) {
    const { session, accessToken } = await registerPerson(world())
    await setRows(world(), 'sessions', { token_hash: hashSecret(session) }, { [column]: new Date() })
    t.is((await me({ session })).status, 401, column)
    t.is((await me({ bearer: accessToken })).status, 200, 'the access token is valid until its expiresAt')
  }
})

test('an expired access token does not end its session', async (t) => {
  const { session, accessToken } = await registerPerson(world())
  await setRows(world(), 'access_tokens', { token_hash: hashSecret(accessToken) }, { expires_at: new Date() })
  t.is((await me({ bearer: accessToken })).status, 401)
  t.is((await me({ session })).status, 200)
})

test('use extends the idle limit, at most once a minute, and does not change the absolute limit', async (t) => {
  const { session } = await registerPerson(world())
  const row = () =>
    world()
      .db('sessions')
      .where({ token_hash: hashSecret(session) })
  const inMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000)

  const [{ idle_until: fresh, absolute_until: end }] = await row()
  await me({ session })
  t.deepEqual((await row())[0].idle_until, fresh, 'a request within the minute writes nothing')

  await row().update({ idle_until: inMinutes(10) })
  await Promise.all(Array.from({ length: 10 }, () => me({ session })))
  const [{ idle_until: slid, absolute_until: endAfter }] = await row()
  t.true(Math.abs(slid.getTime() - inMinutes(7 * 24 * 60).getTime()) < 60_000)
  t.deepEqual(endAfter, end)
})

test('use of the access token does not extend the session', async (t) => {
  const { session, accessToken } = await registerPerson(world())
  const row = () =>
    world()
      .db('sessions')
      .where({ token_hash: hashSecret(session) })
  const soon = new Date(Date.now() + 600_000)
  await row().update({ idle_until: soon })
  await me({ bearer: accessToken })
  t.deepEqual((await row())[0].idle_until, soon)
})

for (const credential of ['session', 'bearer'] as const)
  test(`logout with the ${credential} revokes session and access token and clears the cookie`, async (t) => {
    const { session, accessToken } = await registerPerson(world())
    const presented = credential === 'session' ? { session } : { bearer: accessToken }
    const answer = await world().request<{ success: true }>('POST', '/auth/logout', presented)
    t.is(answer.status, 200)
    t.deepEqual(answer.body, { success: true })
    t.regex(
      answer.headers['set-cookie']?.[0] ?? '',
      /^session=; path=\/; expires=Thu, 01 Jan 1970 .*httponly$/,
    )
    t.is((await me({ session })).status, 401)
    t.is((await me({ bearer: accessToken })).status, 401)
    const again = await world().request('POST', '/auth/logout', presented)
    t.is(again.status, 401)
    t.is(again.body.error, 'Unauthorized')
  })

test('logout keeps the other sessions of the account', async (t) => {
  const { email, password, session } = await registerPerson(world())
  const other = await login(email, password)
  await world().request('POST', '/auth/logout', { session })
  t.is((await me({ session: other.session })).status, 200)
})

test('register, login and logout refuse requests from pages of other sites before any other check', async (t) => {
  const { session } = await registerPerson(world())
  const foreign = [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: 'http://tips.example.evil.example' },
    { origin: publicUrl.replace('http:', 'https:') },
    { origin: `${publicUrl}:8080` },
    { origin: world().url.replace('http:', 'https:') },
    { origin: 'http://127.0.0.1' },
    { origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ]
  for (const path of ['/auth/register', '/auth/login', '/auth/logout'])
    for (const headers of foreign) {
      const answer = await world().request('POST', path, { session, headers, body: '{"a":' })
      t.is(answer.status, 403, `${path} ${JSON.stringify(headers)}`)
      t.is(answer.body.error, 'Forbidden')
    }
  t.is((await me({ session, headers: { origin: 'https://evil.example' } })).status, 200, 'reading is allowed')
})

test('a page of the own site may log out', async (t) => {
  const own = [
    { origin: publicUrl },
    { origin: world().url },
    { 'sec-fetch-site': 'same-origin' },
    { 'sec-fetch-site': 'none' },
  ]
  for (const headers of own) {
    const { session } = await registerPerson(world())
    t.is((await world().request('POST', '/auth/logout', { session, headers })).status, 200)
  }
})

test('a page of the own site may log out under every host name that leads to the service', async (t) => {
  const tunnel = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'tunnel.example' }
  const behindProxy = (await startApp(t, { ...world().env, TRUST_PROXY: 'true' })).url
  for (const [url, headers, status] of [
    [world().url, { host: 'machine.lan:3001', origin: 'http://machine.lan:3001' }, 200],
    [world().url, { host: 'machine.lan', origin: 'http://machine.lan:3001' }, 403],
    [world().url, { host: 'machine.lan:80', origin: 'http://machine.lan' }, 200],
    [behindProxy, { host: '127.0.0.1', origin: 'https://tunnel.example', ...tunnel }, 200],
    [behindProxy, { host: '127.0.0.1', origin: 'http://tunnel.example', ...tunnel }, 403],
    [world().url, { host: '127.0.0.1', origin: 'https://tunnel.example', ...tunnel }, 403],
  ] as const) {
    const { session } = await registerPerson(world())
    const sent = { ...headers, cookie: `session=${session}` }
    t.is((await requestRaw(url, 'POST', '/auth/logout', sent)).status, status, JSON.stringify(headers))
  }
})

test('values stored in the database are not valid credentials', async (t) => {
  const { user } = await registerPerson(world())
  const { db } = world()
  const rows = [
    ...(await db('users').where({ id: user.id })),
    ...(await db('sessions').where({ user_id: user.id })),
    ...(await db('access_tokens').where({ user_id: user.id })),
  ]
  const values = rows.flatMap((row) => Object.values(row)).flatMap(asTokens)
  t.true(values.length > 10)
  for (const value of values) {
    t.is((await me({ session: value })).status, 401)
    t.is((await me({ bearer: value })).status, 401)
  }
})

/** The forms in which a stored value could be presented as a token. */
function asTokens(value: unknown): string[] {
  if (Buffer.isBuffer(value))
    return (['hex', 'base64', 'base64url'] as const).map((coding) => value.toString(coding))
  return typeof value === 'string' ? [encodeURIComponent(value)] : []
}

test.serial('GET /auth/me runs one statement', async (t) => {
  const { session } = await registerPerson(world())
  const statements: string[] = []
  const { client } = world().services.db
  const acquire = client.acquireConnection
  t.teardown(() => {
    client.acquireConnection = acquire
  })
  client.acquireConnection = async () => {
    statements.push('one')
    return acquire.call(client)
  }
  await me({ session })
  t.is(statements.length, 1)
})

const dayMs = 86_400_000
const ago = (days: number) => new Date(Date.now() - days * dayMs)

function session({ session: token }: Person) {
  return world()
    .db('sessions')
    .where({ token_hash: hashSecret(token) })
}

async function age(person: Person, dead: { session: Date; token: Date }): Promise<void> {
  await session(person).update({ idle_until: dead.session })
  await world()
    .db('access_tokens')
    .where({ token_hash: hashSecret(person.accessToken) })
    .update({ expires_at: dead.token })
}

test.serial('a session is deleted a day after its end, unless its access token is still valid', async (t) => {
  const [dead, recent, tokenAlive, alive] = [
    await registerPerson(world()),
    await registerPerson(world()),
    await registerPerson(world()),
    await registerPerson(world()),
  ]
  await age(dead, { session: ago(1.1), token: ago(1.1) })
  await age(recent, { session: ago(0.9), token: ago(0.9) })
  await age(tokenAlive, { session: ago(5), token: ago(-0.1) })
  await deleteExpired(as('clock', world().services))
  t.is((await session(dead)).length, 0)
  for (const person of [recent, tokenAlive, alive]) t.is((await session(person)).length, 1)
  const answer = await world().request('GET', '/auth/me', { bearer: tokenAlive.accessToken })
  t.is(answer.status, 200)
  t.is((await world().request('GET', '/auth/me', { session: alive.session })).status, 200)
})

test.serial('a session past its absolute end is deleted even if it was used recently', async (t) => {
  const person = await registerPerson(world())
  await age(person, { session: ago(-7), token: ago(2) })
  await session(person).update({ absolute_until: ago(2) })
  await deleteExpired(as('clock', world().services))
  t.is((await session(person)).length, 0)
})

test.serial('failed attempts and locks are deleted a day after the last, and what counts none', async (t) => {
  const [old, fresh, none] = [
    await registerPerson(world()),
    await registerPerson(world()),
    await registerPerson(world()),
  ]
  await world()
    .db('code_attempts')
    .insert([
      { user_id: old.user.id, kind: 'totp', failed_at: [ago(1.2), ago(1.1)] },
      { user_id: fresh.user.id, kind: 'totp', failed_at: [ago(1.1), ago(0.9)], locked_until: ago(0.89) },
      { user_id: none.user.id, kind: 'sign_in_code' },
    ])
  await deleteExpired(as('clock', world().services))
  t.deepEqual(await world().db('code_attempts').pluck('user_id'), [fresh.user.id])
})

test.serial('devices, secrets and changes of e-mail are deleted when over', async (t) => {
  const { user } = await registerPerson(world())
  const { db } = world()
  const hash = (byte: number) => Buffer.alloc(32, byte)
  const [over, recent] = [ago(1.1), ago(0.9)]
  await db('devices').update({ last_seen_at: ago(401) })
  await db('one_time_secrets').insert(
    [over, recent].flatMap((expires_at, n) => [
      { hash: hash(n), user_id: user.id, purpose: 'not_me', expires_at },
      { hash: hash(n), user_id: null, purpose: 'passkey_login', expires_at },
    ]),
  )
  await db('email_changes').insert(
    [
      [over, null],
      [over, ago(3)],
      [recent, null],
    ].map(([until, undone]) => ({
      user_id: user.id,
      old_email: 'a@b.c',
      new_email: 'd@e.f',
      undo_until: until,
      undone_at: undone,
    })),
  )
  await deleteExpired(as('clock', world().services))
  t.is((await db('devices')).length, 0)
  t.deepEqual(await db('one_time_secrets').pluck('hash'), [hash(1), hash(1)])
  t.deepEqual((await db('email_changes').pluck('undone_at')).map((at) => at === null).sort(), [false, true])
})
