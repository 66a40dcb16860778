import test from 'ava'
import { mailText } from '../../scripts/kit/mail-text.js'
import { isCommonPassword } from '../../src/accounts/passwords/common-passwords.js'
import type { RequestOptions } from '../helpers/http/client.js'
import { type EnteredBody, freshEmail, type Person, registerPerson } from '../helpers/make/creators.js'
import { mailedToken, queuedCode } from '../helpers/make/sign-in/emailed-codes.js'
import { publicUrl, setRows, useWorld } from '../helpers/servers/world.js'

const world = useWorld(test)
const newPassword = 'purple kettle by the sea'

async function login(email: string, password: string) {
  return world().request<EnteredBody>('POST', '/auth/login', { body: { email, password } })
}

async function isOpen(options: RequestOptions): Promise<boolean> {
  return (await world().request('GET', '/auth/me', options)).status === 200
}

function change(session: string | undefined, body: unknown) {
  return world().request('POST', '/auth/password', { session, body })
}

async function resetToken({ email }: Pick<Person, 'email'>): Promise<string> {
  const answer = await world().request('POST', '/auth/password/reset', { body: { email } })
  if (answer.status !== 200) throw new Error(`reset answered ${answer.status}`)
  return mailedToken(world(), 'password-reset', email)
}

function confirm(token: string, password = newPassword) {
  return world().request('POST', '/auth/password/reset/confirm', { body: { token, newPassword: password } })
}

/** Makes the password void, as the first proof of an e-mail from another network does. */
async function voidPassword({ user }: Person): Promise<void> {
  await world().db('users').where({ id: user.id }).update({ password_hash: null })
}

test('a new password ends every session, also the stolen cookie, and the owner gets a mail', async (t) => {
  const person = await registerPerson(world())
  const other = await login(person.email, person.password)
  const resetLink = await resetToken(person)
  const answer = await change(person.session, { currentPassword: person.password, newPassword })
  t.is(answer.status, 200)
  t.deepEqual(answer.body, { success: true } as never)
  t.true(await isOpen({ session: answer.session ?? '' }))
  for (const ended of [
    { session: person.session },
    { bearer: person.accessToken },
    { session: other.session ?? '' },
    { bearer: other.body.auth.accessToken },
  ])
    t.false(await isOpen(ended))
  t.is((await login(person.email, person.password)).status, 401)
  t.is((await login(person.email, newPassword)).status, 200)
  t.is((await confirm(resetLink, 'another one by the sea')).body.error, 'Invalid or expired link')
  t.not(
    await mailedToken(world(), 'password-changed', person.email),
    '',
    'with a link that freezes the account',
  )
})

test('a stolen cookie alone sets no password', async (t) => {
  const person = await registerPerson(world())
  const refusals = [
    [{ currentPassword: 'a wrong password', newPassword }, 401, 'Invalid credentials'],
    [{ newPassword }, 400, 'Current password or code required'],
    [{ totp: '123456', newPassword }, 400, 'Invalid or expired code'],
    [{ currentPassword: person.password }, 400, 'Password must be 8-256 characters'],
    [{ currentPassword: person.password, newPassword: 'short' }, 400, 'Password must be 8-256 characters'],
    [
      { currentPassword: person.password, newPassword: 'x'.repeat(257) },
      400,
      'Password must be 8-256 characters',
    ],
    [{ currentPassword: person.password, newPassword: 'Password1' }, 400, 'Password is too common'],
    [{ currentPassword: person.password, newPassword: 'LoveLace-2026' }, 400, 'Password is too common'],
  ] as const
  for (const [body, status, error] of refusals) {
    const answer = await change(person.session, body)
    t.is(answer.status, status, JSON.stringify(body).slice(0, 80))
    t.is(answer.body.error, error)
  }
  t.true(await isOpen({ session: person.session }))
})

test('ten changes at the same time with one password: one wins', async (t) => {
  const person = await registerPerson(world())
  const wanted = Array.from({ length: 10 }, (_, n) => `${newPassword} ${n}`)
  const answers = await Promise.all(
    wanted.map((one) => change(person.session, { currentPassword: person.password, newPassword: one })),
  )
  t.is(answers.filter(({ status }) => status === 200).length, 1)
  t.true(answers.every(({ status, body }) => status === 200 || body.error === 'Unauthorized'))
})

test('a void password logs nobody in, and a session that a code has just opened sets a new one', async (t) => {
  const person = await registerPerson(world())
  await voidPassword(person)
  for (const password of [person.password, 'null', ''])
    t.not((await login(person.email, password)).status, 200)
  const old = world().db('sessions').where({ user_id: person.user.id })
  await old.update({ created_at: new Date(Date.now() - 16 * 60_000) })
  const refused = await change(person.session, { newPassword })
  t.is(`${refused.status} ${refused.body.code}`, '401 reauthentication_required')
  t.is((await change(person.session, { currentPassword: '', newPassword })).status, 400)
  const body = { email: person.email, code: await queuedCode(world(), person.email) }
  const { session } = await world().request('POST', '/auth/otp/verify', { body })
  t.is((await change(session, { newPassword })).status, 200)
  t.is((await login(person.email, newPassword)).status, 200)
})

test('a reset sets a password, ends every session and proves the e-mail, but signs nobody in', async (t) => {
  const person = await registerPerson(world())
  const token = await resetToken(person)
  t.is((await confirm(token, 'password1')).body.error, 'Password is too common')
  t.is((await confirm(token, 'short')).body.error, 'Password must be 8-256 characters')
  const answer = await confirm(token)
  t.is(answer.status, 200, 'a refused password leaves the link good')
  t.is(answer.session, undefined)
  t.false(await isOpen({ session: person.session }))
  t.false(await isOpen({ bearer: person.accessToken }))
  const opened = await login(person.email, newPassword)
  t.is(opened.status, 200)
  t.not(opened.body.user.emailVerifiedAt, null)
  t.not(await mailedToken(world(), 'password-changed', person.email), '')
  const mails = world().db('emails').where({ recipient: person.email })
  t.regex(mailText(await mails.clone().where({ kind: 'password-changed' }).first()), /Network: /)
  t.notRegex(mailText(await mails.where({ kind: 'password-reset' }).first()), /stays as it is/)
  const again = await confirm(token)
  t.is(`${again.status} ${again.body.error}`, '400 Invalid or expired link')
})

test.serial('of a hundred uses of one reset link at the same time, one sets the password', async (t) => {
  const person = await registerPerson(world())
  const token = await resetToken(person)
  const present = (nth: number) =>
    confirm(token, `${newPassword} ${nth}`).catch(() => confirm(token, `${newPassword} ${nth}`))
  const answers = await Promise.all(Array.from({ length: 100 }, (_, nth) => present(nth)))
  const won = answers.flatMap(({ status }, nth) => (status === 200 ? [nth] : []))
  t.is(won.length, 1)
  t.true(answers.every(({ status }) => status === 200 || status === 400))
  t.is((await login(person.email, `${newPassword} ${won[0]}`)).status, 200)
})

test('a reset link ends after 30 minutes, and one of two links voids the other', async (t) => {
  const person = await registerPerson(world())
  const links = world().db('one_time_secrets').where({ user_id: person.user.id, purpose: 'password_reset' })
  const first = await resetToken(person)
  const [{ created_at: from, expires_at: to }] = await links.clone()
  t.true(Math.abs(to - from - 30 * 60_000) < 10_000)
  t.is(await resetToken(person), first, 'another is mailed after a minute')
  await links.clone().update({ created_at: new Date(Date.now() - 61_000) })
  const second = await resetToken(person)
  t.not(second, first)
  t.is((await confirm(first)).status, 200, 'an earlier link is as good')
  t.is((await confirm(second)).status, 400)
  await links.clone().update({ used_at: null, expires_at: new Date() })
  t.is((await confirm(second)).status, 400)
})

test('a reset of an unknown address says the same and takes as long', async (t) => {
  const known = await registerPerson(world())
  for (const email of [known.email, freshEmail()]) {
    const startedAt = performance.now()
    const answer = await world().request('POST', '/auth/password/reset', { body: { email } })
    t.true(performance.now() - startedAt > 240, email)
    t.is(answer.status, 200)
    t.deepEqual(answer.body, { success: true } as never)
  }
  for (const body of [{}, { email: 'no address' }]) {
    const answer = await world().request('POST', '/auth/password/reset', { body })
    t.is(`${answer.status} ${answer.body.error}`, '400 Email required')
  }
})

test('a frozen account resets its password, and changes it not', async (t) => {
  const person = await registerPerson(world())
  const token = await resetToken(person)
  await setRows(world(), 'users', { id: person.user.id }, { frozen_at: new Date(), frozen_reason: 'test' })
  const refused = await change(person.session, { currentPassword: person.password, newPassword })
  t.is(`${refused.status} ${refused.body.error}`, '403 Account frozen')
  t.is((await confirm(token)).status, 200)
})

test('registration takes a common password and answers no hint, which the owner asks for', async (t) => {
  const body = { email: freshEmail(), password: '12345678', name: 'Ada Lovelace' }
  const registered = await world().request('POST', '/auth/register', { body })
  t.deepEqual(Object.keys(registered.body).sort(), ['auth', 'success', 'user'])
  const { session } = registered
  const check = (password: unknown) =>
    world().request<{ common?: boolean; error?: string }>('POST', '/auth/password/check', {
      session,
      body: { password },
    })
  t.deepEqual((await check('12345678')).body, { success: true, common: true } as object)
  t.true((await check('ada-lovelace')).body.common)
  t.false((await check(newPassword)).body.common)
  t.is((await check(7)).status, 400)
  t.is((await world().request('POST', '/auth/password/check', { body: { password: 'x' } })).status, 401)
})

test('common passwords are known in any case, and so are words of the account', async (t) => {
  const known = { email: 'ngozi.okafor@example.com', name: 'Ngozi Okafor' }
  const isCommon = (password: string) => isCommonPassword({ http: { publicUrl } } as never, password, known)
  for (const common of [
    'password',
    'PASSWORD1',
    'iloveyou',
    'qwertyuiop',
    'ngozi.okafor@example.com',
    'okafor2026',
    'Ngozi-Okafor!',
  ])
    t.true(await isCommon(common), common)
  for (const fine of [newPassword, 'okafor sells yams', 'Xk3-vTq9', 'ünïcödé pässwörd'])
    t.false(await isCommon(fine), fine)
})
