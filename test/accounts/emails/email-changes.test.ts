import test from 'ava'
import { mailText } from '../../../scripts/kit/mail-text.js'
import { readRecentChanges } from '../../../src/accounts/protection.js'
import type { RequestOptions } from '../../helpers/http/client.js'
import { type EnteredBody, freshEmail, type Person, registerPerson } from '../../helpers/make/creators.js'
import { mailedToken, queuedCode } from '../../helpers/make/sign-in/emailed-codes.js'
import { addPasskey, addTotp, ageFactors, nextCode, totpCode } from '../../helpers/make/sign-in/factors.js'
import { setRows, useWorld } from '../../helpers/servers/world.js'
import { until } from '../../helpers/until.js'

const world = useWorld(test)
const inUse = '409 Email already in use'
const badLink = '400 Invalid or expired link'

async function post(path: string, body: unknown, options: RequestOptions = {}): Promise<string> {
  const answer = await world().request('POST', path, { ...options, body })
  return answer.status === 200 ? '200' : `${answer.status} ${answer.body.error}`
}

async function login(email: string, password: string) {
  return world().request<EnteredBody>('POST', '/auth/login', { body: { email, password } })
}

async function isOpen(options: RequestOptions): Promise<boolean> {
  return (await world().request('GET', '/auth/me', options)).status === 200
}

function requestChange({ session, password }: Pick<Person, 'session' | 'password'>, email: string) {
  return post('/auth/email', { email, password }, { session })
}

/** Changes the e-mail through the mailed link. */
async function changeEmail(person: Pick<Person, 'session' | 'password'>, email: string): Promise<string> {
  const requested = await requestChange(person, email)
  if (requested !== '200') return requested
  return post('/auth/email/confirm', { token: await mailedToken(world(), 'email-change', email) })
}

function undoToken(oldEmail: string): Promise<string> {
  return mailedToken(world(), 'email-undo', oldEmail)
}

const user = ({ user: { id } }: Person) => world().db('users').where({ id }).first()
const moneyEmail = async (person: Person) => (await readRecentChanges(world().db, person.user.id)).moneyEmail

test('an e-mail changes when the link mailed to the new address is used, once', async (t) => {
  const person = await registerPerson(world())
  const email = freshEmail()
  t.is(await requestChange(person, email), '200')
  const { body } = await world().request<{ pendingEmail: string }>('GET', '/auth/security', person)
  t.is(body.pendingEmail, email)
  t.not(
    await mailedToken(world(), 'email-change-requested', person.email),
    '',
    'the owner can freeze the account',
  )
  t.is((await user(person)).email, person.email)
  const token = await mailedToken(world(), 'email-change', email)
  const answers = await Promise.all(Array.from({ length: 20 }, () => post('/auth/email/confirm', { token })))
  t.deepEqual(answers.sort(), ['200', ...Array(19).fill(badLink)])
  t.is((await user(person)).email, email)
  t.not((await user(person)).email_verified_at, null)
  t.is((await login(email, person.password)).status, 200)
  t.is((await login(person.email, person.password)).status, 401)
  t.is(await moneyEmail(person), person.email, 'codes for money still go to the old address')
})

test('a stolen cookie alone changes no e-mail, and a taken address is refused', async (t) => {
  const [person, other] = [await registerPerson(world()), await registerPerson(world())]
  const email = freshEmail()
  const { session } = person
  t.is(await post('/auth/email', { email }, { session }), '400 Current password or code required')
  t.is(
    await post('/auth/email', { email, password: 'wrong password' }, { session }),
    '401 Invalid credentials',
  )
  t.is(await post('/auth/email', { email, totp: '123456' }, { session }), '400 Invalid or expired code')
  t.is(await post('/auth/email', { password: person.password }, { session }), '400 Email required')
  t.is(await requestChange(person, other.email), inUse)
  t.is(await requestChange(person, person.email), inUse)
  // Somebody registers the address before the link is used.
  t.is(await requestChange(person, email), '200')
  await post('/auth/register', { email, password: 'long enough', name: 'Ada' })
  t.is(await post('/auth/email/confirm', { token: await mailedToken(world(), 'email-change', email) }), inUse)
})

test('with a second factor on, the password alone changes no e-mail', async (t) => {
  const person = await registerPerson(world())
  const { secret, recoveryCodes } = await addTotp(world(), person)
  const { session, password } = person
  const required = '401 Second factor required'
  const invalid = '400 Invalid or expired code'
  const ask = (proof: object) => post('/auth/email', { email: freshEmail(), ...proof }, { session })
  t.is(await ask({ password }), required)
  t.is(await ask({ password: 'wrong password' }), required, 'whether the password is right is not told')
  t.is(await ask({}), required)
  // Young: only with the password, so that the owner is not stuck.
  t.is(await ask({ totp: await nextCode(world(), person, secret) }), invalid)
  const totp = totpCode(secret)
  t.is(await ask({ password: 'wrong password', totp }), '401 Invalid credentials')
  t.is(await ask({ password, totp }), '200')
  t.is(await ask({ password, totp }), invalid, 'used')
  t.is(await ask({ password, totp: recoveryCodes[0] }), '200')
  t.is(await ask({ totp: recoveryCodes[1] }), invalid)
  await ageFactors(world(), person, 73)
  t.is(await ask({ totp: await nextCode(world(), person, secret) }), '200')
  // A thief with the password and a factor of their own, beside the owner's.
  await world()
    .db('passkeys')
    .insert({
      user_id: person.user.id,
      credential_id: Buffer.from(person.user.id),
      public_key: 'x',
      label: 'x',
    })
  await ageFactors(world(), person, -73)
  await world()
    .db('passkeys')
    .where({ user_id: person.user.id })
    .update({ created_at: world().db.raw("now() - interval '1 hour'") })
  t.is(await ask({ password, totp: await nextCode(world(), person, secret) }), invalid)
  const newPassword = 'purple kettle by the sea'
  t.is(await post('/auth/password', { currentPassword: password, newPassword }, { session }), '200')
})

test('the newest request counts, a new password voids it, and a frozen account keeps its address', async (t) => {
  const person = await registerPerson(world())
  const [first, second] = [freshEmail(), freshEmail()]
  await requestChange(person, first)
  await requestChange(person, second)
  const confirm = async (email: string) =>
    post('/auth/email/confirm', { token: await mailedToken(world(), 'email-change', email) })
  t.is(await confirm(first), badLink)
  const frozen = (at: Date | null) =>
    setRows(world(), 'users', { id: person.user.id }, { frozen_at: at, frozen_reason: at && 'test' })
  await frozen(new Date())
  t.is(await confirm(second), '403 Account frozen')
  await frozen(null)
  const body = { currentPassword: person.password, newPassword: 'purple kettle by the sea' }
  t.is(await post('/auth/password', body, { session: person.session }), '200')
  t.is(await confirm(second), badLink, 'a thief asked for it before')
})

test('a thief with password and cookie changes the e-mail twice, and the owner takes the account back', async (t) => {
  const owner = await registerPerson(world())
  await world().db('users').where({ id: owner.user.id }).update({ email_verified_at: new Date() })
  const [one, two] = [freshEmail(), freshEmail()]
  const key = (session: string) =>
    world().request<{ apiKey: string }>('POST', '/creators/api-keys', { session, body: {} })
  const events = (bearer: string) =>
    world().request('GET', `/sdk/events?creatorId=${owner.user.id}`, { bearer })
  const ownKey = (await key(owner.session)).body.apiKey
  const thief = {
    password: owner.password,
    session: (await login(owner.email, owner.password)).session ?? '',
  }

  t.is(await changeEmail(thief, one), '200')
  const thiefKey = (await key(thief.session)).body.apiKey
  const { id: userId } = owner.user
  t.is(await changeEmail(thief, two), '200')
  t.is(await moneyEmail(owner), owner.email)
  // What the thief has mailed to the own address, for later.
  const code = await queuedCode(world(), two)
  await post('/auth/password/reset', { email: two })
  const thiefReset = await mailedToken(world(), 'password-reset', two)
  t.is(await requestChange(thief, freshEmail()), '200')
  const thiefUndo = await undoToken(one)
  const thiefFreeze = await mailedToken(world(), 'email-change-requested', two)
  await world().db('totp_factors').insert({ user_id: userId, sealed_secret: 'x', confirmed_at: new Date() })

  const token = await undoToken(owner.email)
  const answers = await Promise.all(Array.from({ length: 20 }, () => post('/auth/email/undo', { token })))
  t.deepEqual(answers.sort(), ['200', ...Array(19).fill(badLink)])
  const restored = await user(owner)
  t.deepEqual([restored.email, restored.password_hash], [owner.email, null])
  t.is(await moneyEmail(owner), owner.email)
  t.deepEqual(await world().db('totp_factors').where({ user_id: userId }), [])

  for (const ended of [{ session: thief.session }, { session: owner.session }, { bearer: owner.accessToken }])
    t.false(await isOpen(ended))
  for (const email of [owner.email, two]) {
    t.is((await login(email, owner.password)).status, 401)
    t.is(await post('/auth/otp/verify', { email, code }), '400 Invalid or expired code')
  }
  const body = { token: thiefReset, newPassword: 'purple kettle by the sea' }
  t.is(await post('/auth/password/reset/confirm', body), badLink)
  t.is(await post('/auth/email/undo', { token: thiefUndo }), badLink)
  t.is(await post('/auth/not-me', { token: thiefFreeze }), badLink)
  t.deepEqual(await world().db('devices').where({ user_id: userId }), [])
  const pending = await world()
    .db('one_time_secrets')
    .where({ user_id: userId, purpose: 'email_change', used_at: null })
  t.deepEqual(pending, [])
  t.is((await events(thiefKey)).status, 401)
  t.is((await events(ownKey)).status, 200)

  // The owner goes on with the mailed link.
  const reset = await mailedToken(world(), 'password-reset', owner.email)
  t.is(await post('/auth/password/reset/confirm', { ...body, token: reset }), '200')
  const opened = await login(owner.email, body.newPassword)
  const listed = await world().request<{ apiKeys: unknown[] }>('GET', '/creators/api-keys', {
    session: opened.session,
  })
  t.is(listed.body.apiKeys.length, 1)
})

test('who registered another’s e-mail and waited keeps nothing once its owner undoes the change', async (t) => {
  const squatter = await registerPerson(world())
  const { session, email, user } = squatter
  const { db, request } = world()
  const made = await request<{ apiKey: string }>('POST', '/creators/api-keys', { session, body: {} })
  await addPasskey(world(), squatter)
  const { secret } = await addTotp(world(), squatter)
  await ageFactors(world(), squatter, 100)
  await db('api_keys')
    .where({ user_id: user.id })
    .update({ created_at: db.raw("created_at - interval '100 hours'") })
  const [other, totp] = [freshEmail(), await nextCode(world(), squatter, secret)]
  t.is(await post('/auth/email', { email: other, totp }, { session }), '200')
  t.is(await post('/auth/email/confirm', { token: await mailedToken(world(), 'email-change', other) }), '200')
  await request('POST', '/auth/passkeys/options', { session, body: {} })
  const mail = await db('emails').where({ recipient: email, kind: 'email-undo' }).first()
  t.false(mailText(mail).includes('@'), 'the squatter has chosen the address')
  t.is(await post('/auth/email/undo', { token: await undoToken(email) }), '200')
  for (const table of ['passkeys', 'totp_factors', 'recovery_codes', 'sessions'])
    t.deepEqual(await db(table).where({ user_id: user.id }), [], table)
  const challenges = db('one_time_secrets').where({ user_id: user.id, purpose: 'passkey_add' })
  t.deepEqual(
    (await challenges.pluck('used_at')).map((at) => at !== null),
    [true, true],
    'void',
  )
  const bearer = made.body.apiKey
  t.is((await request('GET', `/sdk/events?creatorId=${user.id}`, { bearer })).status, 401)
})

test('a code that is asked for while the change is undone is not mailed to the thief', async (t) => {
  const { email, user } = await registerPerson(world())
  const { db } = world()
  const trx = await db.transaction()
  await trx('users').where({ id: user.id }).update({ email: freshEmail() })
  const answer = post('/auth/otp/start', { email })
  const waits = db('pg_stat_activity')
    .where({ wait_event_type: 'Lock' })
    .whereLike('query', 'select 1 from users where id = $1 and email%')
  await until('the request waits for the account', async () => (await waits.clone()).length > 0)
  await trx.commit()
  t.is(await answer, '404 Account not found')
  t.deepEqual(await db('emails').where({ recipient: email, kind: 'one-time-code' }), [])
})

test('ending all other sessions voids the change of e-mail that one of them asked for', async (t) => {
  const owner = await registerPerson(world())
  const email = freshEmail()
  t.is(await requestChange(owner, email), '200')
  const { session } = await login(owner.email, owner.password)
  t.is((await world().request('DELETE', '/auth/sessions', { session })).status, 200)
  t.is(
    await post('/auth/email/confirm', { token: await mailedToken(world(), 'email-change', email) }),
    badLink,
  )
})

test('the owner undoes a change of a frozen account, and it stays frozen', async (t) => {
  const owner = await registerPerson(world())
  await changeEmail(owner, freshEmail())
  await setRows(world(), 'users', { id: owner.user.id }, { frozen_at: new Date(), frozen_reason: 'test' })
  t.is(await post('/auth/email/undo', { token: await undoToken(owner.email) }), '200')
  const { email, frozen_at: frozenAt } = await user(owner)
  t.is(email, owner.email)
  t.not(frozenAt, null)
})

test('an old address is reserved for 72 hours: nobody registers it or changes to it', async (t) => {
  const [owner, other] = [await registerPerson(world()), await registerPerson(world())]
  await changeEmail(owner, freshEmail())
  const register = () => post('/auth/register', { email: owner.email, password: 'long enough', name: 'Ada' })
  t.is(await register(), inUse)
  t.is(await requestChange(other, owner.email), inUse)
  t.is(await post('/auth/password/reset', { email: owner.email }), '200')
  const resets = await world().db('emails').where({ recipient: owner.email, kind: 'password-reset' })
  t.is(resets.length, 0)
  const changes = world().db('email_changes').where({ user_id: owner.user.id })
  const [{ changed_at: from, undo_until: until }] = await changes.clone()
  t.true(Math.abs(until - from - 72 * 3_600_000) < 10_000)
  await changes.clone().update({ undo_until: new Date() })
  t.is(await register(), '200')
  t.is(await post('/auth/email/undo', { token: await undoToken(owner.email) }), badLink)
})

test('an address is not registered while a change frees it: a race', async (t) => {
  const owners = await Promise.all(Array.from({ length: 8 }, () => registerPerson(world())))
  for (const owner of owners) {
    const email = freshEmail()
    await requestChange(owner, email)
    const token = await mailedToken(world(), 'email-change', email)
    const register = () =>
      post('/auth/register', { email: owner.email, password: 'long enough', name: 'Ada' })
    const [confirmed, ...registered] = await Promise.all([
      post('/auth/email/confirm', { token }),
      ...Array.from({ length: 4 }, register),
    ])
    t.is(confirmed, '200')
    t.deepEqual(new Set(registered), new Set([inUse]))
  }
})

test('the owner changes back without the link', async (t) => {
  const owner = await registerPerson(world())
  const email = freshEmail()
  t.is(await changeEmail(owner, email), '200')
  t.is(await changeEmail(owner, owner.email), '200')
  t.is((await user(owner)).email, owner.email)
})

test('an address gets five links in 15 minutes, of all accounts together, and every request answers the same', async (t) => {
  const [email, people] = [freshEmail(), [await registerPerson(world()), await registerPerson(world())]]
  for (const person of [...people, ...people, ...people, ...people])
    t.is(await requestChange(person, email), '200')
  t.is((await world().db('emails').where({ recipient: email, kind: 'email-change' })).length, 5)
  const notices = world().db('emails').where({ kind: 'email-change-requested' })
  t.is(
    (
      await notices.whereIn(
        'recipient',
        people.map((person) => person.email),
      )
    ).length,
    8,
  )
})
