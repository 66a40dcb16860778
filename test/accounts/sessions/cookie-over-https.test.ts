import test from 'ava'
import { requestRaw } from '../../helpers/http/raw-request.js'
import { freshEmail, registerPerson } from '../../helpers/make/creators.js'
import { storeCode } from '../../helpers/make/sign-in/emailed-codes.js'
import { useWorld } from '../../helpers/servers/world.js'

const world = useWorld(test, { env: { PUBLIC_URL: 'https://tips.example' } })

test('over https the cookie is Secure and bound to the host by its prefix', async (t) => {
  const body = { email: freshEmail(), password: 'long enough', name: 'Ada' }
  const answer = await world().request('POST', '/auth/register', { body })
  t.is(answer.status, 200)
  const [pair, ...attributes] = (answer.headers['set-cookie']?.[0] ?? '').split('; ')
  t.regex(pair ?? '', /^__Host-session=[\w-]{43}$/)
  const named = attributes.map((attribute) => attribute.replace(/^expires=.*/, 'expires')).sort()
  t.deepEqual(named, ['expires', 'httponly', 'path=/', 'samesite=lax', 'secure'])
})

test('over https a login with a one-time code sets the same kind of cookie', async (t) => {
  const person = await registerPerson(world())
  await storeCode(world(), person, '123456')
  const body = { email: person.email, code: '123456' }
  const answer = await world().request('POST', '/auth/otp/verify', { body })
  t.is(answer.status, 200)
  t.regex(
    answer.headers['set-cookie']?.[0] ?? '',
    /^__Host-session=[\w-]{43}; path=\/; expires=[^;]*; samesite=lax; secure; httponly$/,
  )
})

test('over https only the prefixed cookie is accepted, and logout clears it', async (t) => {
  const { session } = await registerPerson(world())
  t.is((await world().request('GET', '/auth/me', { session })).status, 401)
  const headers = { cookie: `__Host-session=${session}` }
  t.is((await world().request('GET', '/auth/me', { headers })).status, 200)
  const answer = await world().request('POST', '/auth/logout', { headers })
  t.regex(
    answer.headers['set-cookie']?.[0] ?? '',
    /^__Host-session=; path=\/; expires=Thu, 01 Jan 1970 .*secure/,
  )
})

test('over https a page that was read over http is of another site, under every host name', async (t) => {
  for (const [host, origin, status] of [
    ['tips.example', 'https://tips.example', 200],
    ['tips.example', 'http://tips.example', 403],
    ['tips.example', 'https://tips.example:8443', 403],
    ['www.tips.example', 'https://www.tips.example', 200],
    ['www.tips.example', 'http://www.tips.example', 403],
    ['127.0.0.1:3000', 'https://tips.example', 200],
    ['127.0.0.1:3000', 'http://127.0.0.1:3000', 403],
  ] as const) {
    const { session } = await registerPerson(world())
    const headers = { host, origin, cookie: `__Host-session=${session}` }
    const answer = await requestRaw(world().url, 'POST', '/auth/logout', headers)
    t.is(answer.status, status, `${origin} at ${host}`)
  }
})

test('the OpenAPI document has the prefixed name of the cookie', async (t) => {
  const { body } = await world().request<{ components: { securitySchemes: { session: { name: string } } } }>(
    'GET',
    '/openapi.json',
  )
  t.is(body.components.securitySchemes.session.name, '__Host-session')
})
