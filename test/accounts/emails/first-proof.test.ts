import test from 'ava'
import { mailText } from '../../../scripts/kit/mail-text.js'
import { createClient } from '../../helpers/http/client.js'
import { type EnteredBody, freshEmail, registerPerson } from '../../helpers/make/creators.js'
import { mailedToken, queuedCode } from '../../helpers/make/sign-in/emailed-codes.js'
import { addTotp, ageSessions, nextCode } from '../../helpers/make/sign-in/factors.js'
import { startApp } from '../../helpers/servers/serve-app.js'
import { setRows, useWorld } from '../../helpers/servers/world.js'
import { until } from '../../helpers/until.js'

const world = useWorld(test, { env: { TRUST_PROXY: 'true' } })
const password = 'purple kettle by the sea'
const thiefAt = '192.0.2.66'
const ownerAt = '198.51.100.7'

const from = (address: string) => ({ headers: { 'x-forwarded-for': address } })

async function register(email: string, address: string) {
  const body = { email, password, name: 'Ada' }
  const answer = await world().request<EnteredBody>('POST', '/auth/register', { ...from(address), body })
  const { user, auth } = answer.body
  return { id: user.id, session: answer.session ?? '', accessToken: auth.accessToken }
}

async function post(path: string, body: unknown, address: string) {
  return world().request('POST', path, { ...from(address), body })
}

async function meStatus(options: { session?: string; bearer?: string }): Promise<number> {
  return (await world().request('GET', '/auth/me', options)).status
}

async function provenMail(email: string): Promise<string> {
  return mailText(await world().db('emails').where({ recipient: email, kind: 'email-proven' }).first())
}

interface Listed {
  readonly sessions: readonly {
    readonly id: string
    readonly current: boolean
    readonly createdAt: string
    readonly lastUsedAt: string
    readonly network: string
    readonly userAgent: string | null
  }[]
}

async function list(session: string) {
  return (await world().request<Listed>('GET', '/auth/sessions', { session })).body.sessions
}

const proofs: Readonly<Record<string, (email: string, address: string) => Promise<{ status: number }>>> = {
  'a mailed code': async (email, address) =>
    post('/auth/otp/verify', { email, code: await queuedCode(world(), email) }, address),
  'the link of locked codes': async (email, address) => {
    const wrong = { email, code: '000000' }
    for (let n = 0; n < 5; n++) await post('/auth/otp/verify', wrong, thiefAt)
    await post('/auth/otp/start', { email }, address)
    return post('/auth/otp/link', { token: await mailedToken(world(), 'sign-in-link', email) }, address)
  },
  'a password reset': async (email, address) => {
    await post('/auth/password/reset', { email }, address)
    const token = await mailedToken(world(), 'password-reset', email)
    return post('/auth/password/reset/confirm', { token, newPassword: 'the owner has another one' }, address)
  },
}

for (const [name, prove] of Object.entries(proofs))
  test(`hijack before the owner arrives: ${name} from another network voids what the thief made`, async (t) => {
    const email = freshEmail()
    const thief = await register(email, thiefAt)
    const { body: key } = await world().request<{ apiKey: string }>('POST', '/creators/api-keys', {
      session: thief.session,
      body: {},
    })
    const change = { email: freshEmail(), password }
    await world().request('POST', '/auth/email', { session: thief.session, body: change })
    await world()
      .db('passkeys')
      .insert({ user_id: thief.id, credential_id: Buffer.from(email), public_key: 'x', label: 'thief' })

    t.is((await prove(email, ownerAt)).status, 200)
    t.is(await meStatus({ session: thief.session }), 401)
    t.is(await meStatus({ bearer: thief.accessToken }), 401)
    t.is((await post('/auth/login', { email, password }, thiefAt)).status, 401)
    const events = await world().request('GET', `/sdk/events?creatorId=${thief.id}`, { bearer: key.apiKey })
    t.is(events.status, 401)
    t.deepEqual(await world().db('passkeys').where({ user_id: thief.id }), [])
    const token = await mailedToken(world(), 'email-change', change.email)
    t.is((await post('/auth/email/confirm', { token }, thiefAt)).status, 400)
    t.regex(await provenMail(email), /from another\s+network/)
  })

test('behind a proxy that is not named, the first proof voids what the thief made', async (t) => {
  const { TRUST_PROXY: _, ...env } = world().env
  const { url } = await startApp(t, env)
  const request = await createClient(url)
  const email = freshEmail()
  const body = { email, password, name: 'Ada' }
  const made = await request<EnteredBody>('POST', '/auth/register', { ...from(thiefAt), body })
  const thief = { session: made.session ?? '' }
  const { body: key } = await request<{ apiKey: string }>('POST', '/creators/api-keys', {
    ...thief,
    body: {},
  })
  const code = await queuedCode(world(), email)
  const proven = await request('POST', '/auth/otp/verify', { ...from(ownerAt), body: { email, code } })
  t.is(proven.status, 200)
  t.is((await request('GET', '/auth/me', thief)).status, 401)
  t.is((await request('POST', '/auth/login', { ...from(thiefAt), body: { email, password } })).status, 401)
  const events = `/sdk/events?creatorId=${made.body.user.id}`
  t.is((await request('GET', events, { bearer: key.apiKey })).status, 401)
  t.is((await request('GET', '/auth/me', { session: proven.session ?? '' })).status, 200)
})

test('under recommended the first proof ends all sessions, tokens and keys but what it carries', async (t) => {
  const { url } = await startApp(t, { ...world().env, GUARDS: 'recommended' })
  const request = await createClient(url)
  const enter = async (path: string, body: object, options: object = {}) => {
    const answer = await request<EnteredBody>('POST', path, { ...from(ownerAt), ...options, body })
    return { status: answer.status, session: answer.session ?? '', bearer: answer.body.auth?.accessToken }
  }
  const isOpen = async (options: object) => (await request('GET', '/auth/me', options)).status === 200
  for (const carries of ['nothing', 'cookie', 'token'] as const) {
    const email = freshEmail()
    const first = await enter('/auth/register', { email, password, name: 'Ada' })
    const other = await enter('/auth/login', { email, password })
    const options = { session: first.session, body: {} }
    const { body: key } = await request<{ apiKey: string }>('POST', '/creators/api-keys', options)
    const { id } = await world().db('users').where({ email }).first()
    const code = await queuedCode(world(), email)
    const carried = { nothing: {}, cookie: { session: first.session }, token: { bearer: first.bearer } }
    const proven = await enter('/auth/otp/verify', { email, code }, carried[carries])
    t.true(await isOpen({ session: proven.session }), carries)
    t.false(await isOpen({ session: other.session }), carries)
    t.false(await isOpen({ bearer: other.bearer }), carries)
    // Signing in replaces the session of the cookie.
    t.is(await isOpen({ bearer: first.bearer }), carries === 'token')
    t.is((await request('GET', `/sdk/events?creatorId=${id}`, { bearer: key.apiKey })).status, 401)
    t.is(/API keys from before that have ended/.test(await provenMail(email)), carries !== 'nothing')
    t.is((await enter('/auth/login', { email, password })).status, carries === 'nothing' ? 401 : 200, carries)
  }
})

test('a login with the thief’s password that is on its way opens no session after the password is void', async (t) => {
  const email = freshEmail()
  const { id } = await register(email, thiefAt)
  const { db } = world()
  const owner = await db.transaction()
  await owner('users').where({ id }).update({ password_hash: null })
  const login = post('/auth/login', { email, password }, thiefAt)
  await until('the login waits for the lock of the account', async () => {
    const { rows } = await db.raw('select 1 from pg_locks where not granted')
    return rows.length > 0
  })
  await owner('sessions').where({ user_id: id }).delete()
  await owner.commit()
  t.is((await login).status, 401)
  t.deepEqual(await db('sessions').where({ user_id: id }), [])
})

test('a proof from the network of the registration changes nothing but mails', async (t) => {
  const email = freshEmail()
  const { session, accessToken } = await register(email, '2001:db8:1:2::7')
  t.is((await proofs['a mailed code']?.(email, '2001:db8:1:2:ffff::1'))?.status, 200)
  t.is(await meStatus({ session }), 200)
  t.is(await meStatus({ bearer: accessToken }), 200)
  t.is((await post('/auth/login', { email, password }, thiefAt)).status, 200)
  t.notRegex(await provenMail(email), /another\s+network/)
  // Later proofs void nothing, from any network.
  t.is((await proofs['a mailed code']?.(email, ownerAt))?.status, 200)
  t.is(await meStatus({ session }), 200)
})

test('a first proof by a change of e-mail is told to the new address, not to the one that was never proven', async (t) => {
  const [email, newEmail] = [freshEmail(), freshEmail()]
  const { id, session } = await register(email, thiefAt)
  const body = { email: newEmail, password }
  t.is((await world().request('POST', '/auth/email', { session, body })).status, 200)
  const token = await mailedToken(world(), 'email-change', newEmail)
  t.is((await post('/auth/email/confirm', { token }, ownerAt)).status, 200)
  t.is(await provenMail(email), '')
  t.regex(await provenMail(newEmail), /from another\s+network/)
  t.like(await world().db('users').where({ id }).first(), { email: newEmail, password_hash: null })
  t.is(await meStatus({ session }), 401)
  t.not(await mailedToken(world(), 'email-undo', email), '', 'the change can be undone')
})

test('an account whose network was not recorded keeps its password', async (t) => {
  const email = freshEmail()
  const { id, session } = await register(email, thiefAt)
  await world().db('users').where({ id }).update({ registered_network: null })
  t.is((await proofs['a mailed code']?.(email, ownerAt))?.status, 200)
  t.is(await meStatus({ session }), 200)
})

test('sessions are listed newest first, with network and browser', async (t) => {
  const email = freshEmail()
  const first = await register(email, '2001:db8:1:2::7')
  const body = { email, password }
  const headers = { ...from(ownerAt).headers, 'user-agent': 'Phone 1.0' }
  const second = await world().request<EnteredBody>('POST', '/auth/login', { headers, body })
  const listed = await list(second.session ?? '')
  t.deepEqual(
    listed.map(({ current, network, userAgent }) => [current, network, userAgent]),
    [
      [true, ownerAt, 'Phone 1.0'],
      [false, '2001:db8:1:2', null],
    ],
  )
  for (const { createdAt, lastUsedAt } of listed)
    t.true(Math.abs(Date.parse(createdAt) - Date.parse(lastUsedAt)) < 60_000)
  t.is((await list(first.session)).find(({ current }) => current)?.id, listed[1]?.id)
})

test('a session ended by its id ends at once with its access token', async (t) => {
  const email = freshEmail()
  const first = await register(email, thiefAt)
  const { session = '' } = await post('/auth/login', { email, password }, ownerAt)
  const [, old] = await list(session)
  const remove = (id: string | undefined, by = session) =>
    world().request('DELETE', `/auth/sessions/${id}`, { session: by })
  t.is((await remove(old?.id)).status, 200)
  t.is(await meStatus({ session: first.session }), 401)
  t.is(await meStatus({ bearer: first.accessToken }), 401)
  t.is((await list(session)).length, 1)

  const stranger = await registerPerson(world())
  const [foreign] = await list(stranger.session)
  for (const id of [old?.id, foreign?.id, 'no-uuid']) {
    const answer = await remove(id)
    t.is(`${answer.status} ${answer.body.error}`, '404 Session not found')
  }
  t.is(await meStatus({ session: stranger.session }), 200)
  const own = await remove((await list(session))[0]?.id)
  t.is(own.status, 200)
  t.regex(own.headers['set-cookie']?.[0] ?? '', /^session=; .*1970/)
  t.is(await meStatus({ session }), 401)
})

test('an old cookie ends no other session without a factor, and its own at once', async (t) => {
  const owner = await registerPerson(world())
  const { email, session } = owner
  const { secret } = await addTotp(world(), owner)
  const others = []
  for (let n = 0; n < 3; n++) {
    const totp = await nextCode(world(), owner, secret)
    const { session: other = '' } = await post(
      '/auth/login',
      { email, password: owner.password, totp },
      ownerAt,
    )
    others.push({ other, id: (await list(other))[0]?.id })
  }
  await ageSessions(world(), owner)
  await setRows(world(), 'users', { id: owner.user.id }, { frozen_at: new Date(), frozen_reason: 'test' })
  const end = async (path: string, body?: object, by = session) => {
    const { status, body: answer } = await world().request<{ code?: string }>('DELETE', path, {
      session: by,
      body,
    })
    return `${status} ${answer.code ?? ''}`.trim()
  }
  const [first, second, third] = others
  const paths = ['/auth/sessions', `/auth/sessions/${first?.id}`, `/auth/sessions/${owner.user.id}`]
  for (const path of paths) {
    t.is(await end(path), '401 reauthentication_required')
    t.is(await end(path, { totp: '00000' }), '400 invalid_code')
  }
  for (const { other } of others) t.is(await meStatus({ session: other }), 200)

  t.is(await end(`/auth/sessions/${third?.id}`, undefined, third?.other), '200', 'logging out')
  t.is(await meStatus({ session: third?.other ?? '' }), 401)
  const factor = async () => ({ totp: await nextCode(world(), owner, secret) })
  t.is(await end(`/auth/sessions/${first?.id}`, await factor()), '200')
  t.is(await meStatus({ session: first?.other ?? '' }), 401)
  t.is(await end('/auth/sessions', await factor()), '200')
  t.is(await meStatus({ session: second?.other ?? '' }), 401)
  t.is(await meStatus({ session }), 200)
})

test('the other sessions are ended together, also while the account is frozen', async (t) => {
  const email = freshEmail()
  const first = await register(email, thiefAt)
  const others = await Promise.all([1, 2, 3].map(() => post('/auth/login', { email, password }, ownerAt)))
  await world().db('users').where({ id: first.id }).update({ frozen_at: new Date(), frozen_reason: 'test' })
  t.is((await list(first.session)).length, 4)
  t.is((await world().request('DELETE', '/auth/sessions', { session: first.session })).status, 200)
  for (const { session = '' } of others) t.is(await meStatus({ session }), 401)
  t.is(await meStatus({ bearer: first.accessToken }), 200)
  t.is((await list(first.session)).length, 1)
})

test('GET /auth/security says what protects the account', async (t) => {
  const { id, session } = await register(freshEmail(), ownerAt)
  const read = async () => (await world().request('GET', '/auth/security', { session })).body
  const fresh = {
    success: true,
    emailVerified: false,
    hasPassword: true,
    totp: false,
    recoveryCodesLeft: 0,
    passkeys: 0,
    frozenAt: null,
    tipMails: 'each',
    pendingEmail: null,
  }
  t.deepEqual(await read(), fresh as never)
  const frozenAt = new Date()
  await setRows(world(), 'users', { id }, { password_hash: null, frozen_at: frozenAt, frozen_reason: 'test' })
  await world().db('totp_factors').insert({ user_id: id, sealed_secret: 'x', confirmed_at: new Date() })
  await world()
    .db('recovery_codes')
    .insert([1, 2].map((n) => ({ user_id: id, code_hmac: Buffer.alloc(32, n) })))
  t.deepEqual(await read(), {
    ...fresh,
    hasPassword: false,
    totp: true,
    recoveryCodesLeft: 2,
    frozenAt: frozenAt.toISOString(),
  } as never)
})
