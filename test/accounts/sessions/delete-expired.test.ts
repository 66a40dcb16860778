import test from 'ava'
import { deleteExpired } from '../../../src/accounts/delete-expired.js'
import { hashSecret } from '../../../src/kernel/ids.js'
import { type Person, registerPerson } from '../../helpers/make/creators.js'
import { as } from '../../helpers/servers/roles.js'
import { useWorld } from '../../helpers/servers/world.js'

const world = useWorld(test)
const dayMs = 86_400_000
const ago = (days: number) => new Date(Date.now() - days * dayMs)

function session({ session: token }: Person) {
  return world()
    .db('sessions')
    .where({ token_hash: hashSecret(token) })
}

async function age(person: Person, dead: { session: Date; token: Date }): Promise<void> {
  await session(person).update({ idle_until: dead.session })
  await world()
    .db('access_tokens')
    .where({ token_hash: hashSecret(person.accessToken) })
    .update({ expires_at: dead.token })
}

test.serial('a session is deleted a day after its end, unless its access token is still valid', async (t) => {
  const [dead, recent, tokenAlive, alive] = [
    await registerPerson(world()),
    await registerPerson(world()),
    await registerPerson(world()),
    await registerPerson(world()),
  ]
  await age(dead, { session: ago(1.1), token: ago(1.1) })
  await age(recent, { session: ago(0.9), token: ago(0.9) })
  await age(tokenAlive, { session: ago(5), token: ago(-0.1) })
  await deleteExpired(as('clock', world().services))
  t.is((await session(dead)).length, 0)
  for (const person of [recent, tokenAlive, alive]) t.is((await session(person)).length, 1)
  const answer = await world().request('GET', '/auth/me', { bearer: tokenAlive.accessToken })
  t.is(answer.status, 200)
  t.is((await world().request('GET', '/auth/me', { session: alive.session })).status, 200)
})

test.serial('a session past its absolute end is deleted even if it was used recently', async (t) => {
  const person = await registerPerson(world())
  await age(person, { session: ago(-7), token: ago(2) })
  await session(person).update({ absolute_until: ago(2) })
  await deleteExpired(as('clock', world().services))
  t.is((await session(person)).length, 0)
})

test.serial('failed attempts and locks are deleted a day after the last, and what counts none', async (t) => {
  const [old, fresh, none] = [
    await registerPerson(world()),
    await registerPerson(world()),
    await registerPerson(world()),
  ]
  await world()
    .db('code_attempts')
    .insert([
      { user_id: old.user.id, kind: 'totp', failed_at: [ago(1.2), ago(1.1)] },
      { user_id: fresh.user.id, kind: 'totp', failed_at: [ago(1.1), ago(0.9)], locked_until: ago(0.89) },
      { user_id: none.user.id, kind: 'sign_in_code' },
    ])
  await deleteExpired(as('clock', world().services))
  t.deepEqual(await world().db('code_attempts').pluck('user_id'), [fresh.user.id])
})

test.serial('devices, secrets and changes of e-mail are deleted when over', async (t) => {
  const { user } = await registerPerson(world())
  const { db } = world()
  const hash = (byte: number) => Buffer.alloc(32, byte)
  const [over, recent] = [ago(1.1), ago(0.9)]
  await db('devices').update({ last_seen_at: ago(401) })
  await db('one_time_secrets').insert(
    [over, recent].flatMap((expires_at, n) => [
      { hash: hash(n), user_id: user.id, purpose: 'not_me', expires_at },
      { hash: hash(n), user_id: null, purpose: 'passkey_login', expires_at },
    ]),
  )
  await db('email_changes').insert(
    [
      [over, null],
      [over, ago(3)],
      [recent, null],
    ].map(([until, undone]) => ({
      user_id: user.id,
      old_email: 'a@b.c',
      new_email: 'd@e.f',
      undo_until: until,
      undone_at: undone,
    })),
  )
  await deleteExpired(as('clock', world().services))
  t.is((await db('devices')).length, 0)
  t.deepEqual(await db('one_time_secrets').pluck('hash'), [hash(1), hash(1)])
  t.deepEqual((await db('email_changes').pluck('undone_at')).map((at) => at === null).sort(), [false, true])
})
