import { assertError, check, checkFields, once } from './support/check.js'
import { freshEmail, password, register, walletOf } from './support/people.js'
import { at, call } from './support/server.js'
import * as shape from './support/shapes.js'

// POST /auth/register, POST /auth/login, GET /auth/me.

const person = once(() => register({ name: 'Ada Obi Nwosu' }))
const login = once(async () => {
  const { email } = await person()
  return call('POST', '/auth/login', { body: { email, password } })
})
const me = once(async () => call('GET', '/auth/me', { cookie: (await person()).cookie }))

const userFields = {
  'user.id': shape.isUuid,
  'user.name': shape.is('Ada Obi Nwosu'),
  'user.full_name': shape.is('Ada Obi Nwosu'),
  'user.first_name': shape.is('Ada'),
  'user.roles': (value: unknown) => shape.isTextList(value) && (value as string[]).includes('user'),
  'user.walletAddress': shape.orNull(shape.matches(/^\w{4}\.\.\.\w{4}$/)),
  'user.walletPublicKey': shape.orNull(shape.isWallet),
  'user.emailVerifiedAt': shape.isNull,
  'user.onboardingComplete': shape.isBoolean,
  'user.onboarding_complete': shape.isBoolean,
  'user.solDomain': shape.isNull,
  'user.twitterHandle': shape.isNull,
  'user.discordHandle': shape.isNull,
  success: shape.is(true),
  'auth.accessToken': shape.isText,
  'auth.tokenType': shape.is('Bearer'),
  'auth.expiresAt': (value: unknown) => shape.isTimestamp(value) && Date.parse(String(value)) > Date.now(),
}

checkFields(check, 'register answers', async () => (await person()).answer.body, userFields)
checkFields(check, 'login answers as register does', async () => (await login()).body, userFields)

check('register answers the e-mail it was given', async (t) => {
  const { email, answer } = await person()
  t.is(at(answer.body, 'user', 'email'), email)
})

check('register opens a session at once: its cookie serves', async (t) => {
  const { cookie, id } = await person()
  const answer = await call('GET', '/auth/me', { cookie })
  t.is(answer.status, 200)
  t.is(at(answer.body, 'user', 'id'), id)
})

check('the session cookie is hidden from scripts', async (t) => {
  const { answer } = await person()
  t.regex(answer.headers.getSetCookie()[0] ?? '', /;\s*HttpOnly/i)
})

check('the wallet comes after registration, and its address is the masked key', async (t) => {
  const { cookie } = await person()
  const key = await walletOf({ cookie })
  const { body } = await call('GET', '/auth/me', { cookie })
  t.is(at(body, 'user', 'walletAddress'), `${key.slice(0, 4)}...${key.slice(-4)}`)
})

const registration = 'Invalid payload: Name must be 2-100 characters and password min 8 characters.'
const invalidRegistrations: Record<string, unknown> = {
  'without an e-mail': { password, name: 'Ada' },
  'without a password': { email: freshEmail(), name: 'Ada' },
  'without a name': { email: freshEmail(), password },
  'with null as e-mail': { email: null, password, name: 'Ada' },
  'with an e-mail that is none': { email: 'not an e-mail', password, name: 'Ada' },
  'with a number as e-mail': { email: 5, password, name: 'Ada' },
  'with a password of 7 characters': { email: freshEmail(), password: '1234567', name: 'Ada' },
  'with a number as password': { email: freshEmail(), password: 12345678, name: 'Ada' },
  'with a name of 1 character': { email: freshEmail(), password, name: 'A' },
  'with a name of 101 characters': { email: freshEmail(), password, name: 'A'.repeat(101) },
  'with a list as name': { email: freshEmail(), password, name: ['Ada'] },
  'with an empty object': {},
  'with a list in place of an object': [],
}
for (const [title, body] of Object.entries(invalidRegistrations))
  check(`register ${title} is refused`, async (t) => {
    assertError(t, await call('POST', '/auth/register', { body }), 400, registration)
  })

check('register with text that is not JSON is refused', async (t) => {
  assertError(t, await call('POST', '/auth/register', { raw: '{"email":' }), 400, registration)
})

check('register takes a password of exactly 8 characters', async (t) => {
  t.is((await register({ password: '12345678' })).answer.status, 200)
})
check('register takes a name of exactly 2 characters', async (t) => {
  t.is((await register({ name: 'Al' })).answer.status, 200)
})
check('register takes a name of exactly 100 characters', async (t) => {
  t.is((await register({ name: 'A'.repeat(100) })).answer.status, 200)
})

check('an e-mail registers once', async (t) => {
  const { email } = await person()
  assertError(
    t,
    await call('POST', '/auth/register', { body: { email, password, name: 'Eve' } }),
    409,
    'Email already in use',
  )
})

check('login sets a session cookie that serves', async (t) => {
  const { cookie } = await login()
  t.is((await call('GET', '/auth/me', { cookie })).status, 200)
})

const invalidLogins: Record<string, unknown> = {
  'without an e-mail': { password },
  'without a password': { email: freshEmail() },
  'with neither': {},
  'with a list in place of an object': [],
}
for (const [title, body] of Object.entries(invalidLogins))
  check(`login ${title} is refused`, async (t) => {
    assertError(t, await call('POST', '/auth/login', { body }), 400, 'Invalid payload')
  })

check('login with a wrong password is refused', async (t) => {
  const { email } = await person()
  assertError(
    t,
    await call('POST', '/auth/login', { body: { email, password: `${password}?` } }),
    401,
    'Invalid credentials',
  )
})
check('login with an unknown e-mail is refused in the same words', async (t) => {
  assertError(
    t,
    await call('POST', '/auth/login', { body: { email: freshEmail(), password } }),
    401,
    'Invalid credentials',
  )
})
check('login does not apply the length rule of registration', async (t) => {
  assertError(
    t,
    await call('POST', '/auth/login', { body: { email: freshEmail(), password: 'short' } }),
    401,
    'Invalid credentials',
  )
})

const { 'user.full_name': _full, 'user.first_name': _first, ...meFields } = userFields
checkFields(
  check,
  'me answers',
  async () => (await me()).body,
  Object.fromEntries(Object.entries(meFields).filter(([name]) => !name.startsWith('auth.'))),
)
for (const name of ['full_name', 'first_name'])
  check(`me lists no ${name}`, async (t) => {
    t.is(at((await me()).body, 'user', name), undefined)
  })

check('me takes the access token', async (t) => {
  const { accessToken, id } = await person()
  const answer = await call('GET', '/auth/me', { bearer: accessToken })
  t.is(answer.status, 200)
  t.is(at(answer.body, 'user', 'id'), id)
})
check('me without credentials is refused', async (t) => {
  assertError(t, await call('GET', '/auth/me'), 401, 'Unauthorized')
})
check('me with an unknown access token is refused', async (t) => {
  assertError(t, await call('GET', '/auth/me', { bearer: 'x'.repeat(43) }), 401, 'Unauthorized')
})
check('me with an unknown session cookie is refused', async (t) => {
  const { cookie } = await person()
  assertError(
    t,
    await call('GET', '/auth/me', { cookie: `${cookie.split('=')[0]}=${'x'.repeat(43)}` }),
    401,
    'Unauthorized',
  )
})
check('the field pairs kept for compatibility say the same', async (t) => {
  const { answer } = await person()
  t.is(at(answer.body, 'user', 'onboardingComplete'), at(answer.body, 'user', 'onboarding_complete'))
  t.is(at(answer.body, 'user', 'name'), at(answer.body, 'user', 'full_name'))
})
