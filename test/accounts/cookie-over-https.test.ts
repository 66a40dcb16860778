import test from 'ava'
import { codeHmac } from '../../src/accounts/one-time-codes/one-time-code.js'
import { freshEmail, registerPerson } from '../helpers/make/creators.js'
import { useWorld } from '../helpers/servers/world.js'

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
  const { user, email } = await registerPerson(world())
  const code_hmac = codeHmac(world().services.config.otpPepper, user.id, '123456')
  await world()
    .db('otp_codes')
    .insert({ user_id: user.id, code_hmac, expires_at: new Date(Date.now() + 60_000) })
  const answer = await world().request('POST', '/auth/otp/verify', { body: { email, code: '123456' } })
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

test('the OpenAPI document has the prefixed name of the cookie', async (t) => {
  const { body } = await world().request<{ components: { securitySchemes: { session: { name: string } } } }>(
    'GET',
    '/openapi.json',
  )
  t.is(body.components.securitySchemes.session.name, '__Host-session')
})
