import test from 'ava'
import { mailText } from '../../../scripts/kit/mail-text.js'
import { checkFactor } from '../../../src/accounts/factors/check-factor.js'
import { codeAt } from '../../../src/accounts/factors/totp.js'
import { openTotpSecret } from '../../../src/accounts/factors/verify-totp.js'
import { cautionHours, readRecentChanges } from '../../../src/accounts/protection.js'
import { DomainError } from '../../../src/kernel/errors.js'
import { isDatabaseUnavailable } from '../../../src/platform/database/connections/unavailable.js'
import { type EnteredBody, type Person, registerPerson } from '../../helpers/make/creators.js'
import { deliverEmail, requestCode, wrongCode } from '../../helpers/make/sign-in/emailed-codes.js'
import {
  addPasskey,
  addTotp,
  ageFactors,
  ageSessions,
  decodeBase32,
  nextCode,
  passkeyFactor,
  type TestTotp,
  totpCode,
} from '../../helpers/make/sign-in/factors.js'
import { runOpsScript } from '../../helpers/run-ops-script.js'
import { setRows, useWorld } from '../../helpers/servers/world.js'

const world = useWorld(test, { mail: true })

const wrong = '400 Invalid or expired code'
const required = '401 Second factor required'
const locked = '429 Too many failed attempts. Account locked for 15 minutes.'
const reauthenticate = '401 Reauthentication required'
const factorNeeded = '401 Second factor required'

/** Status and error of an answer; `200` alone for a success. */
async function call(
  method: string,
  path: string,
  {
    session,
    body = method === 'GET' ? undefined : {},
  }: { session?: string | undefined; body?: unknown } = {},
): Promise<string> {
  const { status, body: answer } = await world().request(method, path, { session, body })
  return status === 200 ? '200' : `${status} ${answer.error}`
}

const login = ({ email, password }: Person, totp?: string) =>
  call('POST', '/auth/login', { body: { email, password, totp } })
const row = ({ user }: Person, table: string) => world().db(table).where({ user_id: user.id })
const attempts = (person: Person, kind: string) => row(person, 'code_attempts').where({ kind })
const mails = ({ email }: Person, kind: string) => world().db('emails').where({ recipient: email, kind })

/** Requests a code once the mails before it have arrived, so that its mail is the newest. */
async function requestNewestCode(person: Person): Promise<string> {
  await deliverEmail(world(), person.email)
  return requestCode(world(), person)
}

/** What `checkFactor` throws; undefined when the factor counts. Who got no connection among a hundred asks again. */
async function check(
  person: Person,
  presented: object,
  olderThanHours?: number,
): Promise<{ readonly code: string; readonly problem: string } | undefined> {
  try {
    await checkFactor(
      world().services,
      person.user.id,
      presented,
      olderThanHours === undefined ? {} : { olderThanHours },
    )
    return undefined
  } catch (error) {
    if (isDatabaseUnavailable(error)) return check(person, presented, olderThanHours)
    if (!(error instanceof DomainError)) throw error
    return { code: error.code, problem: error.details[0]?.problem ?? '' }
  }
}

test('an authenticator app is in force after its first code, and each account has one', async (t) => {
  const ada = await registerPerson(world())
  const { session } = ada
  const path = '/auth/totp/confirm'
  t.is(await call('POST', path, { session, body: { code: '123456' } }), wrong, 'nothing was started')
  t.deepEqual(await attempts(ada, 'totp'), [], 'and nothing was counted')
  const start = () =>
    world().request<{ secret: string; uri: string }>('POST', '/auth/totp', { session, body: {} })
  const replaced = decodeBase32((await start()).body.secret)
  const { body } = await start()
  t.true(body.uri.startsWith('otpauth://totp/Tips:') && body.uri.includes(body.secret))
  const secret = decodeBase32(body.secret)
  t.is(secret.length, 20)
  t.is(await login(ada), '200', 'not in force yet')
  t.is(await call('POST', path, { session, body: { code: totpCode(replaced) } }), wrong)
  await row(ada, 'totp_factors').update({ created_at: world().db.raw("created_at - interval '15 minutes'") })
  t.is(await call('POST', path, { session, body: { code: totpCode(secret) } }), wrong, 'too old a secret')

  const totp = await addTotp(world(), ada)
  t.is(totp.recoveryCodes.length, 10)
  t.is(await login(ada), required)
  t.is(await call('POST', '/auth/totp', { session }), '409 Authenticator app already set up')
  t.truthy((await world().db('users').where({ id: ada.user.id }).first()).factors_changed_at)

  const stored: { sealed_secret: Buffer } = await row(ada, 'totp_factors').first()
  t.false(stored.sealed_secret.includes(totp.secret))
  t.is(stored.sealed_secret[0], 1, 'the version of the key')
  const { config } = world().services
  t.deepEqual(openTotpSecret(config, ada.user.id, stored.sealed_secret), totp.secret)
  const bob = await registerPerson(world())
  t.throws(() => openTotpSecret(config, bob.user.id, stored.sealed_secret), undefined, 'of another account')
})

test('a frozen account adds and removes no factor, and signs in with the one that it has', async (t) => {
  const ada = await registerPerson(world())
  const { secret } = await addTotp(world(), ada)
  await setRows(world(), 'users', { id: ada.user.id }, { frozen_at: new Date(), frozen_reason: 'test' })
  const body = { totp: await nextCode(world(), ada, secret) }
  const { session } = ada
  for (const [method, path] of [
    ['POST', '/auth/passkeys/options'],
    ['POST', '/auth/recovery-codes'],
    ['DELETE', '/auth/totp'],
  ] as const)
    t.is(await call(method, path, { session, body }), '403 Account frozen', path)
  t.is(await login(ada, body.totp), '200')
})

test('an accepted code is refused ever after, and its neighbours count once each', async (t) => {
  const ada = await registerPerson(world())
  const { secret } = await addTotp(world(), ada)
  const { last_step: step } = await world().db('totp_factors').where({ user_id: ada.user.id }).first()
  const [last = '', now = '', next = ''] = [-1, 0, 1].map((steps) => codeAt(secret, Number(step) + steps))
  t.is(await login(ada, now), wrong, 'the code that put the app in force')
  t.is(await login(ada, last), wrong, 'an earlier one')
  t.is(await login(ada, next), '200')
  t.is(await login(ada, next), wrong)
  t.deepEqual((await attempts(ada, 'totp').first()).failed_at, [], 'used codes are not failed attempts')
})

test.serial('of a hundred equal codes at the same time one signs in', async (t) => {
  const ada = await registerPerson(world())
  const { secret } = await addTotp(world(), ada)
  const totp = await nextCode(world(), ada, secret)
  const checks = await Promise.all(Array.from({ length: 100 }, () => check(ada, { totp })))
  t.is(checks.filter((refused) => refused === undefined).length, 1)
  t.true(checks.every((refused) => refused === undefined || refused.code === 'invalid_code'))
  const again = await nextCode(world(), ada, secret)
  const logins = await Promise.all(Array.from({ length: 10 }, () => login(ada, again)))
  t.deepEqual(logins.sort(), ['200', ...Array.from({ length: 9 }, () => wrong)])
})

test('five wrong codes lock the app for 15 minutes, for the right code too, and nothing else', async (t) => {
  const ada = await registerPerson(world())
  const { secret, recoveryCodes } = await addTotp(world(), ada)
  const { device } = await addPasskey(world(), ada)
  const code = await nextCode(world(), ada, secret)
  t.is(await login(ada, 'not a code'), wrong, 'not counted: it cannot be right')
  // 100,000 codes away from all that count.
  const guesses = Array.from({ length: 20 }, (_, n) => wrongCode(code, 100_000 + n))
  const answers = await Promise.all(guesses.map((guess) => login(ada, guess)))
  t.deepEqual(
    [wrong, locked].map((text) => answers.filter((one) => one === text).length),
    [5, 15],
  )
  const { email, password } = ada
  const refused = await world().request('POST', '/auth/login', { body: { email, password, totp: code } })
  t.is(`${refused.status} ${refused.body.error}`, locked)
  const seconds = Number(refused.headers['retry-after'])
  t.true(seconds > 840 && seconds <= 900, String(seconds))

  t.is(await login(ada, recoveryCodes[0]), '200', 'recovery codes are not locked')
  t.is(await check(ada, { passkey: await passkeyFactor(world(), ada.session, device) }), undefined)
  t.is(await login(ada, code), locked, 'and do not end the lock')
  await attempts(ada, 'totp').update({
    locked_until: world().db.raw("locked_until - interval '15 minutes'"),
  })
  t.is(await login(ada, await nextCode(world(), ada, secret)), '200')
})

test('a mailed code needs the second factor, and is not used up without it', async (t) => {
  const ada = await registerPerson(world())
  const { secret } = await addTotp(world(), ada)
  const { email } = ada
  const code = await requestNewestCode(ada)
  const verify = (body: object) => call('POST', '/auth/otp/verify', { body: { email, ...body } })
  const totp = await nextCode(world(), ada, secret)
  t.is(await verify({ code: wrongCode(code) }), wrong)
  t.is(await verify({ code }), required)
  t.is(await verify({ code, totp: wrongCode(totp, 100_000) }), wrong)
  t.is(await verify({ code: wrongCode(code), totp }), wrong)
  t.is(
    (await attempts(ada, 'sign_in_code').first()).failed_at.length,
    2,
    'only wrong mailed codes count as such',
  )
  t.is(await verify({ code, totp }), '200')
  t.is(await verify({ code, totp: await nextCode(world(), ada, secret) }), wrong, 'used')
  t.is(await verify({ code }), wrong, 'used')
})

test('a mailed link needs the second factor, and is not used up without it', async (t) => {
  const ada = await registerPerson(world())
  const { secret } = await addTotp(world(), ada)
  const { email } = ada
  await world()
    .db('code_attempts')
    .insert({ user_id: ada.user.id, kind: 'sign_in_code', locked_until: new Date(Date.now() + 600_000) })
  await deliverEmail(world(), email)
  t.is(await call('POST', '/auth/otp/start', { body: { email } }), locked)
  const { text } = await deliverEmail(world(), email)
  const token = /#sign-in=([\w-]{43})$/m.exec(text)?.[1]
  const open = (totp?: string) => call('POST', '/auth/otp/link', { body: { token, totp } })
  const totp = await nextCode(world(), ada, secret)
  t.is(await open(), required)
  t.is(await open(wrongCode(totp, 100_000)), wrong)
  const opened = await Promise.all([totp, totp, totp].map(open))
  t.is(opened.filter((one) => one === '200').length, 1)
  t.is(await open(await nextCode(world(), ada, secret)), '400 Invalid or expired link')
})

test('ten recovery codes count once each, stand as keyed hashes, and are replaced by new ones', async (t) => {
  const ada = await registerPerson(world())
  const { secret, recoveryCodes } = await addTotp(world(), ada)
  t.is(new Set(recoveryCodes).size, 10)
  t.true(recoveryCodes.every((code) => /^([a-km-np-z2-9]{6}-){3}[a-km-np-z2-9]{6}$/.test(code)))
  const stored = JSON.stringify(await row(ada, 'recovery_codes'))
  t.true(recoveryCodes.every((code) => !stored.includes(code)))
  const [first = '', second = '', third = ''] = recoveryCodes
  t.is(await login(ada, first), '200')
  t.is(await login(ada, first), wrong)
  t.is(await login(ada, second.toUpperCase().replaceAll('-', ' ')), '200')
  const raced = await Promise.all(Array.from({ length: 10 }, () => check(ada, { totp: third })))
  t.is(raced.filter((refused) => refused === undefined).length, 1)

  const { session } = ada
  t.is(await call('POST', '/auth/recovery-codes', { session }), factorNeeded)
  const renewed = await world().request<{ recoveryCodes: string[] }>('POST', '/auth/recovery-codes', {
    session,
    body: { totp: await nextCode(world(), ada, secret) },
  })
  t.is(renewed.body.recoveryCodes.length, 10)
  t.is(await login(ada, recoveryCodes[3]), wrong)
  t.is(await login(ada, renewed.body.recoveryCodes[0]), '200')
  t.is((await mails(ada, 'factor-added')).length, 2, 'the app and the codes')
})

test('DELETE /auth/totp takes a code in a JSON body, not in the address', async (t) => {
  const ada = await registerPerson(world())
  const { session } = ada
  t.is(await call('DELETE', '/auth/totp', { session }), '404 Second factor not found')
  const { secret, recoveryCodes } = await addTotp(world(), ada)
  const totp = await nextCode(world(), ada, secret)
  t.is(await call('DELETE', `/auth/totp?totp=${totp}`, { session }), factorNeeded, 'proxies log addresses')
  const form = await world().request('DELETE', '/auth/totp', {
    session,
    body: `totp=${totp}`,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
  t.is(form.status, 400)
  t.is(await call('DELETE', '/auth/totp', { session, body: { totp: 7 } }), wrong)
  t.is(await call('DELETE', '/auth/totp', { session, body: { totp: wrongCode(totp, 100_000) } }), wrong)
  t.is(await call('DELETE', '/auth/totp', { session, body: { totp } }), '200')
  t.is(await login(ada), '200')
  t.is((await row(ada, 'recovery_codes')).length, 0, 'recovery codes go with the last factor')
  t.is(await login(ada, recoveryCodes[0]), '200', 'a code that nothing asks for is ignored')
  const [mail] = await mails(ada, 'factor-removed')
  t.regex(mail.subject, /^An authenticator app was removed/)

  const again = await addTotp(world(), ada)
  const lost = { totp: again.recoveryCodes[0] }
  t.is(await call('DELETE', '/auth/totp', { session, body: lost }), '200', 'whoever has lost the phone')
})

test('a stolen cookie older than 15 minutes adds no factor without a factor', async (t) => {
  const ada = await registerPerson(world())
  const { session } = ada
  await ageSessions(world(), ada)
  for (const path of ['/auth/totp', '/auth/passkeys/options'])
    t.is(await call('POST', path, { session }), reauthenticate)
  t.is((await row(ada, 'totp_factors')).length, 0)
  t.is(await call('GET', '/auth/passkeys', { session }), '200', 'reading needs nothing')

  const bob = await registerPerson(world())
  const { secret } = await addTotp(world(), bob)
  await ageSessions(world(), bob)
  const withFactor = (totp: string) =>
    call('POST', '/auth/passkeys/options', { session: bob.session, body: { totp } })
  const totp = await nextCode(world(), bob, secret)
  t.is(await withFactor(wrongCode(totp, 100_000)), wrong)
  t.is(await withFactor(totp), '200')
})

/** An account whose young cookie a thief has used to add an authenticator app. */
async function robbed(): Promise<{ readonly owner: Person; readonly thief: TestTotp }> {
  const owner = await registerPerson(world())
  return { owner, thief: await addTotp(world(), owner) }
}

test('a thief with a young cookie adds an app: the owner is told and can freeze, and it confirms no money', async (t) => {
  const { owner, thief } = await robbed()
  const [mail] = await mails(owner, 'factor-added')
  t.regex(mailText(mail), /#not-me=[\w-]{43}/, 'the owner can freeze without signing in')
  t.true((await readRecentChanges(world().db, owner.user.id)).changed, 'so every withdrawal is held')
  const totp = await nextCode(world(), owner, thief.secret)
  const young = await check(owner, { totp }, cautionHours)
  t.is(young?.code, 'invalid_code')
  t.regex(young?.problem ?? '', /younger than 72 hours/)
  const recovery = { totp: thief.recoveryCodes[0] ?? '' }
  t.is((await check(owner, recovery, cautionHours))?.code, 'invalid_code')
  t.is(await check(owner, { totp }), undefined, 'it is a factor for everything else')
  t.is(await check(owner, recovery), undefined, 'not used up by the refusal')

  t.is(await call('GET', '/auth/me', { session: owner.session }), '200', 'sessions stay: the owner’s too')
  t.is(await login(owner), required)
  const planned = await runOpsScript(world(), 'remove-factors', '--user', owner.email)
  t.regex(planned.out, /: 1: not removed yet/)
  t.is(await login(owner), required)
  const apply = ['--user', owner.email, '--apply'] as const
  t.is((await runOpsScript(world(), 'remove-factors', ...apply)).code, 2, 'without a reason')
  const removed = await runOpsScript(world(), 'remove-factors', ...apply, '--reason', 'mail answered')
  t.is(removed.code, 0, removed.err)
  t.is(await login(owner), '200')
  t.is((await mails(owner, 'factor-removed')).length, 1)
  const [audit] = await world()
    .db('audit_log')
    .where({ subject: `user:${owner.user.id}` })
  t.deepEqual(audit.details, { reason: 'mail answered', factors: 1 })
  t.regex((await runOpsScript(world(), 'remove-factors', ...apply, '--reason', 'x')).out, /nothing to do/)
})

test('after 72 hours a factor confirms money, but a recovery code never does', async (t) => {
  const ada = await registerPerson(world())
  const { secret, recoveryCodes } = await addTotp(world(), ada)
  await ageFactors(world(), ada, cautionHours - 0.1)
  t.is((await check(ada, { totp: await nextCode(world(), ada, secret) }, cautionHours))?.code, 'invalid_code')
  await ageFactors(world(), ada, 0.2)
  t.is(await check(ada, { totp: await nextCode(world(), ada, secret) }, cautionHours), undefined)
  t.is((await check(ada, { totp: recoveryCodes[0] }, cautionHours))?.code, 'invalid_code')
  t.is((await check(ada, {}))?.code, 'second_factor_required')
})

test('a thief’s young app removes nothing older and makes no recovery codes, but older factors remove it', async (t) => {
  const owner = await registerPerson(world())
  const { session } = owner
  const old = await addPasskey(world(), owner)
  await ageFactors(world(), owner, 100)
  const thief = await addTotp(world(), owner)
  t.deepEqual(thief.recoveryCodes, [], 'the owner’s stay')
  const code = async () => ({ totp: await nextCode(world(), owner, thief.secret) })
  t.is(await call('DELETE', `/auth/passkeys/${old.id}`, { session }), factorNeeded, 'a young cookie alone')
  t.is(await call('DELETE', `/auth/passkeys/${old.id}`, { session, body: await code() }), wrong)
  const refused = await world().request<{ code: string; details: { problem: string }[] }>(
    'POST',
    '/auth/recovery-codes',
    {
      session,
      body: await code(),
    },
  )
  t.is(refused.body.code, 'invalid_code')
  t.regex(refused.body.details[0]?.problem ?? '', /an older factor or a recovery code/)
  t.is((await row(owner, 'recovery_codes').whereNull('used_at')).length, 10)
  t.is(await login(owner, old.recoveryCodes[0]), '200')

  const passkey = await passkeyFactor(world(), session, old.device)
  t.is(await call('DELETE', '/auth/totp', { session, body: { passkey } }), '200')
  t.is((await row(owner, 'totp_factors')).length, 0)

  const own = await addTotp(world(), owner)
  const ownCode = { totp: await nextCode(world(), owner, own.secret) }
  t.is(await call('DELETE', '/auth/totp', { session, body: ownCode }), '200', 'a young factor removes itself')
  const later = await addTotp(world(), owner)
  await ageFactors(world(), owner, cautionHours)
  const body = { totp: await nextCode(world(), owner, later.secret) }
  t.is(await call('DELETE', `/auth/passkeys/${old.id}`, { session, body }), '200', 'after 72 hours')
})

test('a factor added before the owner proved the e-mail from elsewhere is void, from the same network it counts', async (t) => {
  const squatter = await registerPerson(world())
  const { secret } = await addTotp(world(), squatter)
  const { email } = squatter
  const prove = async () => {
    const code = await requestNewestCode(squatter)
    return world().request<EnteredBody & { error: string }>('POST', '/auth/otp/verify', {
      body: { email, code },
    })
  }
  t.is((await prove()).body.error, 'Second factor required', 'the network that registered it')
  await world().db('users').where({ id: squatter.user.id }).update({ registered_network: '203.0.113.9' })
  const proven = await prove()
  t.is(proven.status, 200)
  t.truthy(proven.body.user.emailVerifiedAt)
  t.deepEqual(
    [(await row(squatter, 'totp_factors')).length, (await row(squatter, 'recovery_codes')).length],
    [0, 0],
  )

  await addTotp(world(), { ...squatter, session: proven.session ?? '' })
  t.is((await prove()).body.error, 'Second factor required', 'the e-mail is proven now')
  t.is(secret.length, 20)
})
