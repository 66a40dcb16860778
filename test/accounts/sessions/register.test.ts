import test from 'ava'
import { type EnteredBody, freshEmail, registerPerson } from '../../helpers/make/creators.js'
import { useWorld } from '../../helpers/servers/world.js'

const world = useWorld(test)
const refused = 'Invalid payload: Name must be 2-100 characters and password min 8 characters.'

function valid() {
  return { email: freshEmail(), password: 'long enough', name: 'Ada Lovelace' }
}

test('registration creates the wallet row and the party of the account', async (t) => {
  const { user } = await registerPerson(world())
  const wallets = await world().db('wallets').where({ user_id: user.id })
  t.is(wallets.length, 1)
  t.not(wallets[0].due_at, null)
  t.is((await world().db('parties').where({ user_id: user.id })).length, 1)
})

for (const [what, change] of Object.entries({
  'no e-mail': { email: undefined },
  'an e-mail that is null': { email: null },
  'an e-mail that is no text': { email: ['a@example.com'] },
  'an e-mail without a domain': { email: 'ada' },
  'an e-mail with a NUL': { email: 'a\u0000da@example.com' },
  'an e-mail over 254 characters': { email: `${'a'.repeat(250)}@example.com` },
  'no password': { password: undefined },
  'a password of seven characters': { password: '1234567' },
  'a password of seven emoji': { password: '🔑'.repeat(7) },
  'a password of 257 characters': { password: 'x'.repeat(257) },
  'a password that is a number': { password: 12_345_678 },
  'no name': { name: undefined },
  'a name of one letter': { name: 'A' },
  'a name of one emoji': { name: '🦊' },
  'a name of blanks': { name: '   \t ' },
  'a name of control and direction marks': { name: '\u202e\u0007\u2066A\u2069' },
  'a name of 101 characters': { name: 'x'.repeat(101) },
  'a name that is an object': { name: { first: 'Ada' } },
}))
  test(`registration refuses ${what}`, async (t) => {
    const answer = await world().request('POST', '/auth/register', { body: { ...valid(), ...change } })
    t.is(answer.status, 400)
    t.is(answer.body.error, refused)
    t.is(answer.session, undefined)
  })

for (const [what, change] of Object.entries({
  'a password of eight characters': { password: '12345678' },
  'a password of blanks, which is not trimmed': { password: '        ' },
  'a password of 256 characters': { password: 'x'.repeat(256) },
  'a name of two letters': { name: 'Al' },
  'a name of 100 emoji': { name: '🦊'.repeat(100) },
  'unknown fields': { roles: ['admin'], id: 'mine', __proto__: { admin: true } },
}))
  test(`registration accepts ${what}`, async (t) => {
    const body = { ...valid(), ...change }
    const answer = await world().request<EnteredBody>('POST', '/auth/register', { body })
    t.is(answer.status, 200)
    t.is(answer.body.user.name, body.name)
    t.deepEqual(answer.body.user.roles, ['user'])
    const { email, password } = body
    t.is((await world().request('POST', '/auth/login', { body: { email, password } })).status, 200)
  })

test('control and direction marks are removed from a name', async (t) => {
  const body = { ...valid(), name: 'A\u202ed\u0000a\u2069 L' }
  const answer = await world().request<EnteredBody>('POST', '/auth/register', { body })
  t.is(answer.body.user.name, 'Ada L')
})

// Serial, because it fills the queue for password hashing.
test.serial(
  'of a hundred concurrent registrations of one e-mail, one succeeds and ninety-nine answer 409',
  async (t) => {
    const body = valid()
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => world().request('POST', '/auth/register', { body })),
    )
    const statuses = answers.map(({ status }) => status).sort()
    t.deepEqual(statuses, [200, ...Array.from({ length: 99 }, () => 409)])
    const users = await world().db('users').where({ email: body.email })
    t.is(users.length, 1)
    t.is((await world().db('sessions').where({ user_id: users[0].id })).length, 1)
  },
)

test('the database stores a hash, not the password', async (t) => {
  const { user, password } = await registerPerson(world())
  const row = await world().db('users').where({ id: user.id }).first()
  t.regex(row.password_hash, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  t.false(JSON.stringify(row).includes(password))
})
