import test from 'ava'
import { mailText, type QueuedEmail } from '../../scripts/kit/mail-text.js'
import { notifyOwner } from '../../src/accounts/notify-owner.js'
import { findKeyOwner } from '../../src/creators/api-keys.js'
import { hashSecret } from '../../src/kernel/ids.js'
import { withdrawalNotice } from '../../src/withdrawals/mails.js'
import { proveEmailOf, registerPerson } from '../helpers/make/creators.js'
import { setRows, useWorld } from '../helpers/servers/world.js'

const world = useWorld(test)

interface NewKey {
  readonly success: true
  readonly apiKey: string
  readonly id: string
  readonly prefix: string
  readonly label: string | null
  readonly createdAt: string
}
interface Keys {
  readonly apiKeys: readonly {
    readonly id: string
    readonly prefix: string
    readonly lastUsedAt: string | null
  }[]
}

function create(session: string, body: unknown = {}) {
  return world().request<NewKey>('POST', '/creators/api-keys', { session, body })
}
async function list(session: string) {
  return (await world().request<Keys>('GET', '/creators/api-keys', { session })).body.apiKeys
}
function revoke(session: string, id: string) {
  return world().request('DELETE', `/creators/api-keys/${id}`, { session })
}

test('a key is answered once and stored as prefix and hash', async (t) => {
  const { session, user } = await registerPerson(world())
  const { status, body } = await create(session, { label: ' my\u0000 shop ' })
  t.is(status, 200)
  const { apiKey, id, prefix, label, createdAt } = body
  t.regex(apiKey, new RegExp(`^tk_live_${prefix}_[\\w-]{43}$`))
  t.is(label, 'my shop')
  t.deepEqual(await list(session), [
    { id, prefix, label, createdAt, lastUsedAt: null },
  ] as unknown as Keys['apiKeys'])
  const row = await world().db('api_keys').where({ id }).first()
  t.is(row.user_id, user.id)
  t.true(hashSecret(apiKey).equals(row.key_hash))
  t.false(JSON.stringify(row).includes(apiKey.slice(-43)))
})

test('a key finds its creator until it is revoked', async (t) => {
  const { session, user } = await registerPerson(world())
  const { apiKey, id } = (await create(session)).body
  t.is(await findKeyOwner(world().services, apiKey), user.id)
  t.is((await revoke(session, id)).status, 200)
  t.is(await findKeyOwner(world().services, apiKey), undefined)
  t.deepEqual(await list(session), [])
  t.is((await revoke(session, id)).body.error, 'API key not found')
})

test('only the complete key is accepted', async (t) => {
  const { session } = await registerPerson(world())
  const { apiKey, prefix } = (await create(session)).body
  const other = (await create(session)).body
  for (const bearer of [
    '',
    prefix,
    apiKey.slice(0, -1),
    `${apiKey}x`,
    apiKey.toUpperCase(),
    `tk_live_${prefix}_${other.apiKey.slice(-43)}`,
    'x'.repeat(100_000),
    `${apiKey}\u0000`,
    session,
  ])
    t.is(await findKeyOwner(world().services, bearer), undefined, bearer.slice(0, 80))
})

test('the last use is recorded at most once a minute', async (t) => {
  const { session } = await registerPerson(world())
  const { apiKey, id } = (await create(session)).body
  const lastUsed = async () => (await list(session))[0]?.lastUsedAt ?? null
  await findKeyOwner(world().services, apiKey)
  const first = await lastUsed()
  t.truthy(first)
  await findKeyOwner(world().services, apiKey)
  t.is(await lastUsed(), first)
  await setRows(world(), 'api_keys', { id }, { last_used_at: new Date(Date.now() - 61_000) })
  await findKeyOwner(world().services, apiKey)
  t.true(((await lastUsed()) ?? '') >= (first ?? ''))
})

test('of fifty concurrent requests for a key twenty succeed', async (t) => {
  const { session } = await registerPerson(world())
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => world().request('POST', '/creators/api-keys', { session, body: {} })),
  )
  t.is(answers.filter(({ status }) => status === 200).length, 20)
  const refused = answers.filter(({ status }) => status !== 200)
  t.true(refused.every(({ status, body }) => status === 400 && body.error === 'Too many API keys'))
  const keys = await list(session)
  t.is(keys.length, 20)

  t.is((await revoke(session, keys[0]?.id ?? '')).status, 200)
  t.is((await create(session)).status, 200, 'a revoked key does not count')
})

test('a creator cannot list or revoke another creator’s key', async (t) => {
  const [ada, eve] = await Promise.all([registerPerson(world()), registerPerson(world())])
  const { apiKey, id } = (await create(ada.session)).body
  t.deepEqual(await list(eve.session), [])
  const answer = await revoke(eve.session, id)
  t.is(answer.status, 404)
  t.is(answer.body.error, 'API key not found')
  t.truthy(await findKeyOwner(world().services, apiKey))
})

test('the owner gets one mail for a key, with its label but not the key, and none for one too many', async (t) => {
  const person = await registerPerson(world())
  await proveEmailOf(world(), person)
  const { session, email } = person
  const { apiKey, prefix } = (await create(session, { label: 'my shop' })).body
  const mails = await world().db('emails').where({ recipient: email })
  t.deepEqual(
    mails.map(({ kind }) => kind),
    ['api-key-created'],
  )
  const text: string = mailText(mails[0])
  t.regex(text, /Label: my shop/)
  t.regex(text, /Network: 127\.0\.0\.1/)
  t.regex(text, /#not-me=[\w-]{43}/)
  t.false(text.includes(prefix))
  t.false(text.includes(apiKey.slice(-43)))
})

test('nobody floods a mailbox: ten mails of a kind in an hour, twenty in all to an address that is not proven', async (t) => {
  const person = await registerPerson(world())
  const { session, email, user, password } = person
  const mails = (): Promise<(QueuedEmail & { kind: string })[]> =>
    world().db('emails').where({ recipient: email }).orderBy('created_at')
  const kinds = async () => (await mails()).map(({ kind }) => kind)
  const keys = async (count: number) => {
    for (let n = 0; n < count; n++) await create(session, { label: 'call 0800 now' })
  }
  const sites = async (name: string) => {
    for (let n = 0; n < 11; n++)
      await world().request('PUT', '/creators/domains', {
        session,
        body: { domains: [`${name}${n}.example`] },
      })
  }
  await Promise.all([keys(6), keys(6)])
  await sites('evil')
  const headers = { 'user-agent': 'Another/1' }
  t.is((await world().request('POST', '/auth/login', { body: { email, password }, headers })).status, 200)
  t.deepEqual(await kinds(), [...Array(10).fill('api-key-created'), ...Array(10).fill('site-added')])
  for (const mail of await mails()) t.notRegex(mailText(mail), /0800|Browser|Label|evil/)
  const links = await world().db('one_time_secrets').where({ user_id: user.id, purpose: 'not_me' })
  t.is(links.length, 20)

  await world().db('emails').where({ recipient: email }).delete()
  await proveEmailOf(world(), person)
  await keys(1)
  await sites('other')
  t.deepEqual(await kinds(), ['api-key-created', ...Array(10).fill('site-added')])
  t.regex(mailText((await mails()).at(-1)), /mailed 10 of this kind in an hour/)
  const withdrawal = { reference: 'FIATPAY-1', amount: 'NGN 1.00', bank: 'Kuda', lastFour: '6789' }
  for (let n = 0; n < 11; n++)
    await world().services.transact((uow) =>
      notifyOwner(
        uow,
        'https://tips.example',
        user.id,
        withdrawalNotice({ kind: 'withdrawal-requested' }, withdrawal),
      ),
    )
  t.is((await kinds()).filter((kind) => kind === 'withdrawal-requested').length, 11, 'never buried')
})
