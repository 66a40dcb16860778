import { randomBytes } from 'node:crypto'
import test from 'ava'
import { createConfirmationCode, useConfirmationCode } from '../../../src/accounts/secrets/codes.js'
import { verifyOtp } from '../../../src/accounts/sign-in/verify-code.js'
import { loadConfig } from '../../../src/platform/config/config.js'
import type { RequestOptions } from '../../helpers/http/client.js'
import { type EnteredBody, freshEmail, type Person, registerPerson } from '../../helpers/make/creators.js'
import {
  deliverEmail,
  requestCode,
  storeCode as storeKnownCode,
  wrongCode,
} from '../../helpers/make/sign-in/emailed-codes.js'
import { publicUrl, setRows, useWorld } from '../../helpers/servers/world.js'

const world = useWorld(test, { mail: true })

const wrong = 'Invalid or expired code'
const locked = 'Too many failed attempts. Account locked for 15 minutes.'
const guess = '000000'

function verify(email: unknown, code: unknown, options: RequestOptions = {}) {
  return world().request<EnteredBody & { readonly error: string }>('POST', '/auth/otp/verify', {
    ...options,
    body: { email, code },
  })
}

/** The failed attempts and the lock. */
function attempts({ user }: Person) {
  return world().db('code_attempts').where({ user_id: user.id, kind: 'sign_in_code' })
}

async function failures(person: Person): Promise<Date[]> {
  return (await attempts(person).first())?.failed_at ?? []
}

function secretsOf({ user }: Person, purpose: string) {
  return world().db('one_time_secrets').where({ user_id: user.id, purpose })
}

async function markVerified({ user }: Person): Promise<void> {
  await setRows(world(), 'users', { id: user.id }, { email_verified_at: new Date(0) })
}

const storeCode = (person: Person, code: string) => storeKnownCode(world(), person, code)

/** Moves the times of the account's codes, links, failures and lock back by so many minutes. */
async function advanceMinutes({ user }: Person, minutes: number): Promise<void> {
  await world().db.raw(
    `with older as (
       update one_time_secrets set created_at = created_at - :m * interval '1 minute', expires_at = expires_at - :m * interval '1 minute'
        where user_id = :id)
     update code_attempts set locked_until = locked_until - :m * interval '1 minute',
            failed_at = array(select f - :m * interval '1 minute' from unnest(failed_at) with ordinality u (f, n) order by n)
      where user_id = :id`,
    { m: minutes, id: user.id },
  )
}

async function lock(person: Person): Promise<void> {
  await storeCode(person, '123456')
  for (let n = 0; n < 5; n++) await verify(person.email, guess)
}

async function refusal(email: unknown, code: unknown): Promise<string> {
  const { status, body, session } = await verify(email, code)
  if (session !== undefined) throw new Error('a refusal opened a session')
  return `${status} ${body.error}`
}

test('who is signed in and confirms the e-mail gets a mail about that, and everybody else one about logging in', async (t) => {
  const person = await registerPerson(world())
  const subjectFor = async (options: RequestOptions) => {
    await world().db('emails').where({ recipient: person.email }).delete()
    await world().request('POST', '/auth/otp/start', { ...options, body: { email: person.email } })
    return (await world().db('emails').where({ recipient: person.email }).first())?.subject
  }
  const other = await registerPerson(world())
  t.is(await subjectFor({}), 'Your code to log in to tips.example')
  t.is(await subjectFor({ session: other.session }), 'Your code to log in to tips.example')
  t.is(await subjectFor({ session: person.session }), 'Confirm your e-mail address at tips.example')
  await markVerified(person)
  t.is(await subjectFor({ session: person.session }), 'Your code to log in to tips.example')
})

test('the session cookie is HttpOnly, SameSite=Lax and for every path', async (t) => {
  const person = await registerPerson(world())
  await storeCode(person, '123456')
  const [cookie = '', device = '', ...others] =
    (await verify(person.email, '123456')).headers['set-cookie'] ?? []
  t.deepEqual(others, [])
  const [pair, ...attributes] = cookie.split('; ')
  t.regex(pair ?? '', /^session=[\w-]{43}$/)
  t.regex(device, /^device=[\w-]{43}; path=\/; expires=[^;]+; samesite=lax; httponly$/)
  const named = attributes.map((attribute) => attribute.replace(/^expires=.*/, 'expires')).sort()
  t.deepEqual(named, ['expires', 'httponly', 'path=/', 'samesite=lax'])
})

test('a code works until it expires or a new code replaces it', async (t) => {
  const person = await registerPerson(world())
  const first = await requestCode(world(), person)
  await advanceMinutes(person, 9)
  t.is((await verify(person.email, first)).status, 200)
  const second = await requestCode(world(), person)
  await advanceMinutes(person, 10)
  t.is(await refusal(person.email, second), `400 ${wrong}`)
  const third = await requestCode(world(), person)
  const fourth = await requestCode(world(), person)
  if (third !== fourth) t.is(await refusal(person.email, third), `400 ${wrong}`)
  t.is((await verify(person.email, fourth)).status, 200)
})

test('a code works for its own account only', async (t) => {
  const [ada, bob] = [await registerPerson(world()), await registerPerson(world())]
  await storeCode(ada, '123456')
  t.is(await refusal(bob.email, '123456'), `400 ${wrong}`)
  await world().db.raw(
    `insert into one_time_secrets (purpose, user_id, hash, expires_at)
     select purpose, ?, hash, expires_at from one_time_secrets where user_id = ? and purpose = 'sign_in_code'`,
    [bob.user.id, ada.user.id],
  )
  t.is(
    await refusal(bob.email, '123456'),
    `400 ${wrong}`,
    'its stored form, copied to another row, does not work either',
  )
})

test('a login with a one-time code keeps the other sessions and access tokens of the account', async (t) => {
  const person = await registerPerson(world())
  const { session, accessToken: bearer } = person
  await storeCode(person, '123456')
  const first = await verify(person.email, '123456')
  await storeCode(person, '654321')
  const second = await verify(person.email, '654321')
  for (const open of [{ session }, { bearer }, { session: first.session }, { session: second.session }])
    t.is((await world().request('GET', '/auth/me', open)).status, 200)
})

test('malformed input and unknown e-mails answer Invalid or expired code and are not counted', async (t) => {
  const person = await registerPerson(world())
  await storeCode(person, '123456')
  const { email } = person
  const codes = [
    undefined,
    null,
    '',
    123456,
    ['123456'],
    { code: '123456' },
    '12345',
    '1234567',
    ' 123456',
    '123456 ',
  ]
  const more = [
    '12345a',
    '１２３４５６',
    '٠١٢٣٤٥',
    '123456\n',
    '+12345',
    '1e1234',
    '0x1234',
    '-12345',
    '123.45',
  ]
  for (const code of [...codes, ...more])
    t.is(await refusal(email, code), `400 ${wrong}`, JSON.stringify(code))
  const emails = [undefined, null, '', 7, [email], 'ada', `${email}\u0000`, `${email},${email}`, freshEmail()]
  for (const one of emails) t.is(await refusal(one, '123456'), `400 ${wrong}`, JSON.stringify(one))
  t.deepEqual(await failures(person), [])
  t.is(
    (await verify(` ${email.toUpperCase()} `, '123456')).status,
    200,
    'the e-mail is trimmed, the code is not',
  )
})

test('verify refuses requests from pages of other sites before any other check', async (t) => {
  const person = await registerPerson(world())
  await storeCode(person, '123456')
  for (const headers of [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ]) {
    const answer = await verify(person.email, '123456', { headers })
    t.is(answer.status, 403)
    t.is(answer.body.error, 'Forbidden')
  }
  t.is((await verify(person.email, '123456', { headers: { origin: publicUrl } })).status, 200)
})

test('the lock ends 15 minutes after the fifth failure, and the count starts again at zero', async (t) => {
  const person = await registerPerson(world())
  await lock(person)
  await advanceMinutes(person, 14.9)
  t.is(await refusal(person.email, guess), `429 ${locked}`)
  await advanceMinutes(person, 0.2)
  for (let n = 1; n <= 5; n++) t.is(await refusal(person.email, guess), `400 ${wrong}`)
  t.is(await refusal(person.email, guess), `429 ${locked}`)
})

test('a refusal while codes are locked says in Retry-After how long the lock lasts', async (t) => {
  const person = await registerPerson(world())
  await lock(person)
  const { email } = person
  const seconds = async (path: string, body: object) => {
    const answer = await world().request('POST', path, { body })
    t.deepEqual([answer.status, answer.body.error], [429, locked])
    return Number(answer.headers['retry-after'])
  }
  for (const [minutes, least, most] of [
    [0, 840, 900],
    [10, 240, 300],
  ] as const) {
    await advanceMinutes(person, minutes)
    const atVerify = await seconds('/auth/otp/verify', { email, code: guess })
    const atStart = await seconds('/auth/otp/start', { email })
    t.true(atVerify > least && atVerify <= most, String(atVerify))
    t.true(atStart > least && atStart <= most, String(atStart))
  }
})

test('five failures lock the account if they are within any 15 minutes', async (t) => {
  const person = await registerPerson(world())
  await storeCode(person, '123456')
  for (let n = 0; n < 3; n++) await verify(person.email, guess)
  await advanceMinutes(person, 10)
  await verify(person.email, guess)
  await advanceMinutes(person, 6)
  for (let n = 0; n < 3; n++)
    t.is(await refusal(person.email, guess), `400 ${wrong}`, 'the first three are too old')
  t.is(await refusal(person.email, guess), `400 ${wrong}`, 'the fifth within 15 minutes')
  t.is(await refusal(person.email, guess), `429 ${locked}`)
})

test('a success resets the count', async (t) => {
  const person = await registerPerson(world())
  for (let round = 0; round < 3; round++) {
    const code = await requestCode(world(), person)
    for (let n = 1; n <= 4; n++) t.is(await refusal(person.email, wrongCode(code, n)), `400 ${wrong}`)
    t.is((await verify(person.email, code)).status, 200)
    t.deepEqual(await failures(person), [])
  }
})

test('a new code does not reset the count, and a locked account gets no new code', async (t) => {
  const person = await registerPerson(world())
  const { email } = person
  const code = await requestCode(world(), person)
  for (let n = 1; n <= 3; n++) await verify(email, wrongCode(code, n))
  const next = await requestCode(world(), person)
  for (let n = 1; n <= 2; n++) t.is(await refusal(email, wrongCode(next, n)), `400 ${wrong}`)
  t.is(await refusal(email, next), `429 ${locked}`)

  const rows = async () => [await attempts(person), await secretsOf(person, 'sign_in_code')]
  const before = await rows()
  const answer = await world().request('POST', '/auth/otp/start', { body: { email } })
  t.deepEqual([answer.status, answer.body.error], [429, locked])
  t.deepEqual(await rows(), before)
  t.is(await refusal(email, next), `429 ${locked}`)
})

/** The token of the link in the newest e-mail. */
async function mailedLink({ email }: Person): Promise<string> {
  const { text } = await deliverEmail(world(), email)
  return (
    new RegExp(`^${publicUrl}/dashboard#sign-in=([\\w-]{43})$`, 'm').exec(text)?.[1] ?? `no link in ${text}`
  )
}
const openLink = (token: unknown) =>
  world().request<EnteredBody & { error: string }>('POST', '/auth/otp/link', { body: { token } })

test('14.6 while codes are locked one link is mailed per 15 minutes, which the lock does not stop', async (t) => {
  const person = await registerPerson(world())
  await lock(person)
  // Who has guessed may have used up the requests for a code.
  t.truthy(await mailedLink(person), 'with the fifth wrong code')
  const startAgain = async () =>
    (await world().request('POST', '/auth/otp/start', { body: { email: person.email } })).status
  t.deepEqual([await startAgain(), await startAgain(), await startAgain()], [429, 429, 429])
  const mails = () => world().db('emails').where({ recipient: person.email, kind: 'sign-in-link' })
  const age = (column: string) => world().db.raw("?? - interval '15 minutes'", [column])
  const ageLinks = () =>
    secretsOf(person, 'sign_in_link').update({ created_at: age('created_at'), expires_at: age('expires_at') })
  t.is((await mails()).length, 1)
  const token = await mailedLink(person)
  const stored = await secretsOf(person, 'sign_in_link').select('hash', 'subject', 'content', 'sealed')
  t.is(stored.length, 1)
  t.false(JSON.stringify(stored).includes(token))
  t.is(
    (await world().request('GET', `/dashboard`)).status,
    200,
    'a scanner that opens the link changes nothing',
  )

  const entered = await openLink(token)
  t.is(entered.status, 200)
  t.truthy(entered.body.user.emailVerifiedAt)
  const me = await world().request<EnteredBody>('GET', '/auth/me', { session: entered.session })
  t.is(me.body.user.email, person.email)
  t.is(await refusal(person.email, '123456'), `429 ${locked}`, 'the lock stays')
  for (const [wrongToken, error] of [
    [token, 'Invalid or expired link'],
    ['x', 'Invalid or expired link'],
    [undefined, 'token is required'],
    [7, 'token is required'],
  ])
    t.is((await openLink(wrongToken)).body.error, error as string)

  await ageLinks()
  t.is(await startAgain(), 429)
  t.is((await mails()).length, 2)
  const second = await mailedLink(person)
  await ageLinks()
  t.is((await openLink(second)).status, 400, 'older than 15 minutes')
})

test('the lock applies to one-time codes only: the password and open sessions still work', async (t) => {
  const person = await registerPerson(world())
  await lock(person)
  const { email, password, session } = person
  t.is((await world().request('POST', '/auth/login', { body: { email, password } })).status, 200)
  t.is((await world().request('GET', '/auth/me', { session })).status, 200)
  t.is(await refusal(email, '123456'), `429 ${locked}`, 'a login does not end the lock')
})

test('the lock of one account does not affect another', async (t) => {
  const [ada, bob] = [await registerPerson(world()), await registerPerson(world())]
  await lock(ada)
  await storeCode(bob, '123456')
  t.is((await verify(bob.email, '123456')).status, 200)
})

/**
 * A busy service refuses some of many requests with 503 before it does anything, and a loaded kernel resets connections before their
 * requests are read: those are sent again, each at most three times.
 */
async function untilServed<Answer>(
  send: () => Promise<Answer>,
  isRefused: (answer: Answer) => boolean,
): Promise<Answer> {
  for (let tries = 1; tries < 4; tries++) {
    const answer = await send().catch(() => undefined)
    if (answer !== undefined && !isRefused(answer)) return answer
  }
  return send()
}

const isBusy = (answer: string) => answer.startsWith('503')

test.serial('of a thousand concurrent wrong codes only five are compared', async (t) => {
  const person = await registerPerson(world())
  const code = await requestCode(world(), person)
  const startedAt = performance.now()
  const present = (guess: string) => untilServed(() => refusal(person.email, guess), isBusy)
  const answers = await Promise.all(Array.from({ length: 1000 }, (_, n) => present(wrongCode(code, n + 1))))
  t.log(`${Math.round(performance.now() - startedAt)} ms`)
  const counted = (text: string) => answers.filter((answer) => answer === text).length
  t.deepEqual([counted(`400 ${wrong}`), counted(`429 ${locked}`)], [5, 995])
  const row = await attempts(person).first()
  t.is(row.failed_at.length, 5)
  t.true(row.locked_until.getTime() > Date.now() + 14 * 60_000)
  t.deepEqual(await secretsOf(person, 'sign_in_code').pluck('used_at'), [null])
  t.is(await refusal(person.email, code), `429 ${locked}`, 'the right code is locked as well')
})

test.serial('two hundred concurrent codes, one of them right, open at most one session', async (t) => {
  const person = await registerPerson(world())
  const code = await requestCode(world(), person)
  const guesses = Array.from({ length: 200 }, (_, n) => wrongCode(code, n))
  const present = (guess: string) =>
    untilServed(
      () => verify(person.email, guess),
      ({ status }) => status === 503,
    )
  const answers = await Promise.all(guesses.reverse().map(present))
  const statuses = answers.map(({ status }) => status)
  t.true(statuses.every((status) => status === 200 || status === 400 || status === 429))
  t.true(statuses.filter((status) => status === 200).length <= 1)
  t.true(statuses.filter((status) => status === 400).length <= 9, 'four before a success, five after it')
})

test.serial('the right code, presented fifty times concurrently, opens one session', async (t) => {
  const person = await registerPerson(world())
  await markVerified(person)
  const code = await requestCode(world(), person)
  const answers = await Promise.all(Array.from({ length: 50 }, () => verify(person.email, code)))
  const opened = answers.filter(({ status }) => status === 200)
  t.is(opened.length, 1)
  t.is(answers.filter(({ status, body }) => status === 400 && body.error === wrong).length, 49)
  const sessions = await world().db('sessions').where({ user_id: person.user.id })
  t.is(sessions.length, 2, 'the registration’s and this one')
})

test.serial('if the session cannot be stored, the code stays unused and nothing is counted', async (t) => {
  const person = await registerPerson(world())
  await storeCode(person, '123456')
  const { db } = world()
  await db.raw('alter table sessions add constraint broken check (false) not valid')
  try {
    t.is((await verify(person.email, '123456')).status, 500)
  } finally {
    await db.raw('alter table sessions drop constraint broken')
  }
  t.deepEqual(await failures(person), [])
  t.is((await verify(person.email, '123456')).status, 200)
})

test('while OTP_PEPPER changes, a code of either pepper is accepted, and none of one that is gone', async (t) => {
  const { services, env } = world()
  const [newer, gone] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')]
  const during = (peppers: string) =>
    loadConfig({
      ...env,
      OTP_PEPPER: peppers,
      DATA_KEY: services.config.dataKeys.given[0].toString('base64'),
    })
  const both = during(`${newer},${env['OTP_PEPPER']}`)
  const tokens = { presentedToken: undefined, accessToken: undefined, deviceToken: 'd' }
  const caller = { ...tokens, network: '192.0.2.1', userAgent: null }
  const enter = (config: typeof both, person: Person, code: string) =>
    verifyOtp({ ...services, config }, { email: person.email, code, notMine: false }, caller)

  const person = await registerPerson(world())
  await storeCode(person, '111111')
  t.is((await enter(both, person, '111111')).account.id, person.user.id, 'made before the change')
  await storeCode(person, '222222')
  await t.throwsAsync(enter(during(gone), person, '222222'), { message: wrong })

  const confirmed = {
    purpose: 'step_up',
    userId: person.user.id,
    subject: 'a hash',
    bound: 'a request',
  } as const
  const confirms = (made: typeof both, used: typeof both) =>
    services.transact(async (uow) => {
      const { code = '' } = (await createConfirmationCode(uow, made, confirmed)) ?? {}
      return useConfirmationCode(uow, used, confirmed, code)
    })
  t.true(await confirms(services.config, both), 'an old code after the change')
  t.true(await confirms(both, during(newer)), 'new codes have the first pepper')
  t.false(await confirms(both, services.config), 'so every process has both before the first is new')
})
