import test from 'ava'
import { registerPerson } from '../helpers/make/creators.js'
import { publicUrl, useWorld } from '../helpers/servers/world.js'

const world = useWorld(test)
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
const paths = [
  '/creators',
  '/creators/',
  '/creators/me',
  '/Creators/ME',
  '/creators/nothing/here',
  '/creators/api-keys/7',
  '/payouts',
  '/payouts/withdraw',
  '/PAYOUTS/history?limit=1',
]

for (const path of paths)
  test(`${path} without a session answers 401 to every method`, async (t) => {
    const { accessToken } = await registerPerson(world())
    for (const method of methods)
      for (const credential of [{}, { bearer: accessToken }, { session: 'unknown' }]) {
        const answer = await world().request(method, path, credential)
        t.is(answer.status, 401, `${method} ${JSON.stringify(credential)}`)
        t.is(answer.body.error, 'Unauthorized')
        t.is(answer.headers['cache-control'], 'no-store')
      }
  })

test('the credential is checked before the body', async (t) => {
  const answer = await world().request('PATCH', '/creators/me', {
    body: '{"name":',
    headers: { 'content-type': 'application/json' },
  })
  t.is(answer.status, 401)
})

test('pages of other sites cannot change anything with the cookie', async (t) => {
  const { session } = await registerPerson(world())
  const foreign = [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ] as Record<string, string>[]
  const changes = [
    ['PATCH', '/creators/me', { name: 'Mallory' }],
    ['POST', '/creators/api-keys', {}],
    ['DELETE', '/creators/api-keys/7', undefined],
    ['PUT', '/creators/domains', { domains: ['evil.example'] }],
    ['POST', '/creators/domain-challenge', { solDomain: 'ada.sol' }],
    ['POST', '/creators/nothing', {}],
  ] as const
  for (const headers of foreign) {
    for (const [method, path, body] of changes) {
      const answer = await world().request(method, path, { session, body, headers })
      t.is(answer.status, 403, `${method} ${path} ${JSON.stringify(headers)}`)
      t.is(answer.body.error, 'Forbidden')
    }
    t.is((await world().request('GET', '/creators/me', { session, headers })).status, 200)
  }
  const own = await world().request('PATCH', '/creators/me', {
    session,
    body: {},
    headers: { origin: publicUrl },
  })
  t.is(own.status, 200)
})
