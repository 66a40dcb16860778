import { assertError, check, checkFields, checkWithStandIns, once } from './support/check.js'
import { freshEmail, mailedCode, mailsTo, password, register, wrongCode } from './support/people.js'
import { type Answer, at, call } from './support/server.js'
import * as shape from './support/shapes.js'

// POST /auth/otp/start, POST /auth/otp/verify.

const lockout = 'Too many failed attempts. Account locked for 15 minutes.'
const invalid = 'Invalid or expired code'

async function start(): Promise<{ email: string; code: string }> {
  const { email } = await register({ name: 'Ada Obi' })
  const { status, text } = await call('POST', '/auth/otp/start', { body: { email } })
  if (status !== 200) throw new Error(text)
  return { email, code: await mailedCode(email) }
}

function verify(email: unknown, code: unknown): Promise<Answer> {
  return call('POST', '/auth/otp/verify', { body: { email, code } })
}

const verified = once(async () => {
  const { email, code } = await start()
  return { email, code, answer: await verify(email, code) }
})

const locked = once(async () => {
  const { email, code } = await start()
  const answers: Answer[] = []
  for (let attempt = 1; attempt <= 5; attempt++) answers.push(await verify(email, wrongCode(code)))
  return { email, code, answers, sixth: await verify(email, wrongCode(code)) }
})

for (const [title, body] of Object.entries<unknown>({
  'without an e-mail': {},
  'with an empty e-mail': { email: '' },
  'with null as e-mail': { email: null },
}))
  check(`start ${title} is refused`, async (t) => {
    assertError(t, await call('POST', '/auth/otp/start', { body }), 400, 'Email required')
  })

check('start for an e-mail without an account is refused', async (t) => {
  assertError(
    t,
    await call('POST', '/auth/otp/start', { body: { email: freshEmail() } }),
    404,
    'Account not found',
  )
})

check('start answers success', async (t) => {
  const { email } = await register()
  const answer = await call('POST', '/auth/otp/start', { body: { email } })
  t.is(answer.status, 200, answer.text)
  t.is(answer.body['success'], true)
})

checkWithStandIns('start mails a code of six digits', async (t) => {
  t.regex((await start()).code, /^\d{6}$/)
})

checkFields(checkWithStandIns, 'verify answers', async () => (await verified()).answer.body, {
  success: shape.is(true),
  'user.id': shape.isUuid,
  'user.name': shape.is('Ada Obi'),
  'user.full_name': shape.is('Ada Obi'),
  'user.roles': shape.isTextList,
  'user.emailVerifiedAt': shape.isTimestamp,
  'user.onboardingComplete': shape.isBoolean,
  'user.onboarding_complete': shape.isBoolean,
  'user.walletAddress': shape.isAbsent,
  'user.walletPublicKey': shape.isAbsent,
  'user.first_name': shape.isAbsent,
  'auth.accessToken': shape.isText,
  'auth.tokenType': shape.is('Bearer'),
  'auth.expiresAt': shape.isTimestamp,
})

checkWithStandIns('verify answers the e-mail it was given', async (t) => {
  const { email, answer } = await verified()
  t.is(at(answer.body, 'user', 'email'), email)
})
checkWithStandIns('verify creates a session: its cookie serves', async (t) => {
  const { answer, email } = await verified()
  const me = await call('GET', '/auth/me', { cookie: answer.cookie })
  t.is(at(me.body, 'user', 'email'), email)
})
checkWithStandIns('the access token of verify serves', async (t) => {
  const { answer } = await verified()
  t.is(
    (await call('GET', '/auth/me', { bearer: String(at(answer.body, 'auth', 'accessToken')) })).status,
    200,
  )
})
checkWithStandIns('a code serves once', async (t) => {
  const { email, code } = await verified()
  assertError(t, await verify(email, code), 400, invalid)
})
checkWithStandIns('a wrong code is refused', async (t) => {
  const { email, code } = await start()
  assertError(t, await verify(email, wrongCode(code)), 400, invalid)
})
checkWithStandIns('a code of somebody else is refused', async (t) => {
  const one = await start()
  const other = await start()
  assertError(
    t,
    await verify(one.email, one.code === other.code ? wrongCode(one.code) : other.code),
    400,
    invalid,
  )
})
for (const [title, code] of Object.entries<unknown>({
  'of five digits': '12345',
  'of seven digits': '1234567',
  'of letters': 'abcdef',
  'that is a number': 123456,
  'that is missing': undefined,
  'that is empty': '',
}))
  check(`a code ${title} is refused`, async (t) => {
    const { email } = await register()
    assertError(t, await verify(email, code), 400, invalid)
  })
check('verify without an e-mail is refused', async (t) => {
  assertError(t, await verify(undefined, '123456'), 400, invalid)
})
check('verify for an unknown e-mail is refused in the same words', async (t) => {
  assertError(t, await verify(freshEmail(), '123456'), 400, invalid)
})
for (const attempt of [1, 2, 3, 4, 5])
  checkWithStandIns(`failed attempt ${attempt} is refused as a wrong code`, async (t) => {
    const answer = (await locked()).answers[attempt - 1]
    if (answer === undefined) throw new Error('no answer')
    assertError(t, answer, 400, invalid)
  })
checkWithStandIns('after five failed attempts the account is locked', async (t) => {
  assertError(t, (await locked()).sixth, 429, lockout)
})
checkWithStandIns('the right code does not serve while the account is locked', async (t) => {
  const { email, code } = await locked()
  assertError(t, await verify(email, code), 429, lockout)
})
checkWithStandIns('the code is an alternative: the password serves while codes are locked', async (t) => {
  const { email } = await locked()
  t.is((await call('POST', '/auth/login', { body: { email, password } })).status, 200)
})
checkWithStandIns('a verified e-mail has its time on /auth/me', async (t) => {
  const { answer } = await verified()
  const me = await call('GET', '/auth/me', { cookie: answer.cookie })
  t.true(shape.isTimestamp(at(me.body, 'user', 'emailVerifiedAt')))
})
checkWithStandIns('the mail with the code goes to the account alone', async (t) => {
  const { email } = await start()
  t.is((await mailsTo(email)).length, 1)
})
