import { randomBytes } from 'node:crypto'
import test from 'ava'
import { createClient } from '../helpers/http/client.js'
import { readOperations } from '../helpers/http/openapi-document.js'
import { registerPerson } from '../helpers/make/creators.js'
import { startApp } from '../helpers/servers/serve-app.js'
import { useWorld } from '../helpers/servers/world.js'

const urls = { TEST_URL: 'https://test.tips.example', LIVE_URL: 'https://tips.example' }
const world = useWorld(test, { env: urls })
const keyOf = (mode: 'live' | 'test'): string =>
  `tk_${mode}_${randomBytes(8).toString('hex')}_${randomBytes(32).toString('base64url')}`

for (const [mode, other, place] of [
  ['live', 'test', urls.TEST_URL],
  ['test', 'live', urls.LIVE_URL],
] as const)
  test(`a ${mode} deployment answers a ${other} key on every endpoint with 401, which says where it belongs`, async (t) => {
    const { url } = await startApp(t, { ...world().env, MODE: mode })
    const request = await createClient(url)
    const opened = (await readOperations(request)).filter(({ operation }) =>
      operation.security.some((requirement) => 'apiKey' in requirement),
    )
    const paths = opened.map(({ path }) => path)
    t.true(
      ['/sdk/init', '/sdk/events', '/creators/events', '/creators/stream'].every((path) =>
        paths.includes(path),
      ),
    )
    t.is(paths.includes('/test/airdrop'), mode === 'test')
    for (const { method, path } of opened) {
      const body = method === 'get' ? {} : { body: {} }
      const answer = await request(method.toUpperCase(), path.replaceAll(/\{\w+\}/g, 'x'), {
        bearer: keyOf(other),
        ...body,
      })
      t.is(answer.status, 401, path)
      t.is(answer.body.error, 'Missing or invalid API key', path)
      const problem = `is a key of the ${other} deployment: use it at ${place}`
      t.deepEqual(answer.body.details, [{ field: 'Authorization', problem }], path)
    }
  })

test('without the address of the other deployment a key of it is refused without one, and an unknown own key without details', async (t) => {
  const { url } = await startApp(t, { ...world().env, TEST_URL: '' })
  const request = await createClient(url)
  const ask = (bearer: string) => request('GET', '/creators/events', { bearer })
  const problem = 'is a key of the test deployment'
  t.deepEqual((await ask(keyOf('test'))).body.details, [{ field: 'Authorization', problem }])
  for (const bearer of [keyOf('live'), 'tk_test_x', `${keyOf('test')}x`]) {
    const { status, body } = await ask(bearer)
    t.deepEqual([status, body.error, 'details' in body], [401, 'Missing or invalid API key', false], bearer)
  }
})

test('a test deployment makes test keys, which open it', async (t) => {
  const { url } = await startApp(t, { ...world().env, MODE: 'test' })
  const request = await createClient(url)
  const { session } = await registerPerson(world())
  const made = await request<{ apiKey: string; prefix: string }>('POST', '/creators/api-keys', {
    session,
    body: {},
  })
  t.true(made.body.apiKey.startsWith(`tk_test_${made.body.prefix}_`))
  t.is((await request('GET', '/creators/events', { bearer: made.body.apiKey })).status, 200)
})
