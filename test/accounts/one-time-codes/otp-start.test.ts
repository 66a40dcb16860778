import test from 'ava'
import { badBodies } from '../../helpers/http/hostile-input.js'
import { freshEmail, registerPerson } from '../../helpers/make/creators.js'
import { deliverEmail, requestCode } from '../../helpers/make/sign-in/emailed-codes.js'
import { publicUrl, useWorld } from '../../helpers/servers/world.js'

const world = useWorld(test, { mail: true })

function start(body: unknown) {
  return world().request('POST', '/auth/otp/start', { body })
}

function emailRows(recipient: string) {
  return world().db('emails').where({ recipient }).orderBy('created_at')
}

test('start e-mails a code of six digits, and the answer contains only success', async (t) => {
  const { email } = await registerPerson(world())
  const answer = await start({ email })
  t.is(answer.status, 200)
  t.deepEqual(answer.body as unknown, { success: true })
  t.is(answer.headers['cache-control'], 'no-store')
  t.is(answer.session, undefined)
  const mail = await deliverEmail(world(), email)
  t.is(world().mail.received(email).length, 1)
  const code = /\b[0-9]{6}\b/.exec(mail.text)?.[0] ?? 'none'
  t.regex(code, /^[0-9]{6}$/)
  t.true(mail.html.includes(code))
  t.false(mail.subject.includes(code), 'subjects are shown on locked screens and logged by mail servers')
  t.regex(mail.text, new RegExp(`log in to ${new URL(publicUrl).host}.*10 minutes`, 's'))
  t.is(mail.from, 'support@tips.example')
})

test('start ignores case and surrounding spaces of the e-mail', async (t) => {
  const { email } = await registerPerson(world())
  t.is((await start({ email: `  ${email.toUpperCase()}\t` })).status, 200)
  t.is((await emailRows(email)).length, 1)
})

test('the e-mail does not contain the account name, which another person may have chosen', async (t) => {
  const person = await registerPerson(world(), 'Your account is closed, see evil.example')
  await requestCode(world(), person)
  const [mail] = world().mail.received(person.email)
  t.false(JSON.stringify(mail).includes('evil.example'))
})

for (const [what, body] of Object.entries({
  'no e-mail': {},
  'an e-mail that is null': { email: null },
  'an empty e-mail': { email: '' },
  'an e-mail that is a number': { email: 7 },
  'an e-mail that is a list': { email: ['a@example.com'] },
  'an e-mail without a domain': { email: 'ada' },
  'two e-mails in one': { email: 'ada@example.com, bob@example.com' },
  'an e-mail with a line break': { email: 'ada@example.com\r\nBcc: bob@example.com' },
  'an e-mail with a NUL': { email: 'a\u0000da@example.com' },
  'an e-mail over 254 characters': { email: `${'a'.repeat(250)}@example.com` },
}))
  test(`start with ${what} answers Email required`, async (t) => {
    const answer = await start(body)
    t.is(answer.status, 400)
    t.is(answer.body.error, 'Email required')
  })

for (const [what, options] of Object.entries(badBodies))
  test(`start answers Email required to ${what}`, async (t) => {
    const answer = await world().request('POST', '/auth/otp/start', options)
    t.is(answer.status, 400)
    t.is(answer.body.error, 'Email required')
  })

test('start for an unknown e-mail answers 404 and stores nothing', async (t) => {
  const email = freshEmail()
  const answer = await start({ email })
  t.is(answer.status, 404)
  t.is(answer.body.error, 'Account not found')
  t.deepEqual(await emailRows(email), [])
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
  for (const { due_at, body_text, body_html, last_error } of rows.slice(0, 2))
    t.deepEqual([due_at, body_text, body_html, last_error], [null, null, null, 'replaced'])
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

test('codes start with every digit', async (t) => {
  const { newCode } = await import('../../../src/accounts/secrets/codes.js')
  const firsts = new Set<string>()
  for (let n = 0; n < 1000; n++) {
    const code = newCode()
    t.regex(code, /^[0-9]{6}$/)
    firsts.add(code.slice(0, 1))
  }
  t.is(firsts.size, 10, 'leading zeros too')
})
