import test from 'ava'
import { mailText } from '../../../scripts/kit/mail-text.js'
import { type EnteredBody, type Person, registerPerson } from '../../helpers/make/creators.js'
import { mailedToken, queuedCode, wrongCode } from '../../helpers/make/sign-in/emailed-codes.js'
import { addPasskey, addTotp, nextCode } from '../../helpers/make/sign-in/factors.js'
import { useWorld } from '../../helpers/servers/world.js'

/** Somebody registers another person's address from the same network, such as an office, and adds a second factor. */
const world = useWorld(test)
const factorNeeded = '401 second_factor_required'

async function post(path: string, body: object) {
  return world().request<EnteredBody & { code?: string }>('POST', path, { body })
}

async function outcome(path: string, body: object): Promise<string> {
  const { status, body: answer } = await post(path, body)
  return status === 200 ? '200' : `${status} ${answer.code}`
}

const userOf = ({ user }: Person) => world().db('users').where({ id: user.id }).first()
const factorsOf = async ({ user }: Person) =>
  Promise.all(
    ['totp_factors', 'passkeys', 'recovery_codes'].map(
      async (table) => (await world().db(table).where({ user_id: user.id })).length,
    ),
  )

test('a squatter in the same network keeps nobody out: the owner says so and starts afresh', async (t) => {
  const thief = await registerPerson(world())
  const { email } = thief
  const { body: key } = await world().request<{ apiKey: string }>('POST', '/creators/api-keys', {
    session: thief.session,
    body: {},
  })
  await addTotp(world(), thief)
  await addPasskey(world(), thief)
  const code = await queuedCode(world(), email)
  t.is(await outcome('/auth/otp/verify', { email, code }), factorNeeded, 'an honest owner loses nothing')

  // The owner tries a new password first.
  await post('/auth/password/reset', { email })
  const token = await mailedToken(world(), 'password-reset', email)
  const newPassword = 'the owner has another one'
  t.is(await outcome('/auth/password/reset/confirm', { token, newPassword }), '200')
  t.is(await outcome('/auth/login', { email, password: newPassword }), factorNeeded)
  t.is((await userOf(thief)).email_verified_at, null, 'whose the factor is stays open')

  const notMine = true
  t.is(await outcome('/auth/otp/verify', { email, code: wrongCode(code), notMine }), '400 invalid_code')
  t.is(await outcome('/auth/otp/verify', { email, code, notMine: 'yes' }), '400 invalid_code')
  t.deepEqual(await factorsOf(thief), [1, 1, 10])
  const proven = await post('/auth/otp/verify', { email, code, notMine })
  t.is(proven.status, 200)
  t.truthy(proven.body.user.emailVerifiedAt)
  t.deepEqual(await factorsOf(thief), [0, 0, 0])
  t.is((await world().request('GET', '/auth/me', { session: thief.session })).status, 401)
  const events = await world().request('GET', `/sdk/events?creatorId=${thief.user.id}`, {
    bearer: key.apiKey,
  })
  t.is(events.status, 401)
  t.is(await outcome('/auth/login', { email, password: thief.password }), '401 invalid_credentials')
  const mail = await world().db('emails').where({ recipient: email, kind: 'email-proven' }).first()
  t.regex(
    mailText(mail).replaceAll(/\s+/g, ' '),
    /somebody else set up the account. .* and second factors do not work/,
  )

  const owner = { ...thief, session: proven.session ?? '' }
  await addTotp(world(), owner)
  const later = { email, code: await queuedCode(world(), email), notMine }
  t.is(await outcome('/auth/otp/verify', later), factorNeeded, 'only at the first proof')
})

test('a mailed link disowns a squatter’s factor, too', async (t) => {
  const thief = await registerPerson(world())
  const { email } = thief
  await addTotp(world(), thief)
  const wrong = wrongCode(await queuedCode(world(), email))
  for (let n = 0; n < 5; n++) await post('/auth/otp/verify', { email, code: wrong })
  await post('/auth/otp/start', { email })
  const token = await mailedToken(world(), 'sign-in-link', email)
  t.is(await outcome('/auth/otp/link', { token }), factorNeeded)
  t.is(await outcome('/auth/otp/link', { token, notMine: true }), '200')
  t.deepEqual(await factorsOf(thief), [0, 0, 0])
})

test('an owner who proves the address with the factor keeps it, and a thief of the mailbox does not disown it', async (t) => {
  const owner = await registerPerson(world())
  const { email, session } = owner
  const { secret } = await addTotp(world(), owner)
  const code = await queuedCode(world(), email)
  const totp = await nextCode(world(), owner, secret)
  t.is(await outcome('/auth/otp/verify', { email, code, totp }), '200')
  t.deepEqual(await factorsOf(owner), [1, 0, 10])
  t.is((await world().request('GET', '/auth/me', { session })).status, 200)
  const stolen = await queuedCode(world(), email)
  t.is(await outcome('/auth/otp/verify', { email, code: stolen, notMine: true }), factorNeeded)
  t.deepEqual(await factorsOf(owner), [1, 0, 10])
})
