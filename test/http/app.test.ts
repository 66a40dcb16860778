import { Agent, request as httpRequest } from 'node:http'
import test from 'ava'
import { errors } from '../../src/kernel/errors.js'
import { badBodies } from '../helpers/http/bad-bodies.js'
import { readOperations } from '../helpers/http/document.js'
import { requestRaw } from '../helpers/http/raw-request.js'
import { strangerWallet } from '../helpers/make/supporter.js'
import { useWorld } from '../helpers/servers/world.js'

const world = useWorld(test)
const operations = () => readOperations(world().request)
const raw = (method: string, path: string, headers?: Record<string, string>, body?: string) =>
  requestRaw(world().url, method, path, headers, body)

const preflight = { origin: 'https://page.example', 'access-control-request-method': 'POST' }
const requestId = /^[0-9a-f-]{36}$/

for (const path of ['/', '/nowhere', '/chain', '/chain/', '//chain/tips', '/payments/intents'])
  test(`nothing is at ${path}`, async (t) => {
    const answer = await raw('GET', path)
    t.is(answer.status, 404)
    t.like(JSON.parse(answer.text), { success: false, error: 'Not found', code: 'not_found' })
  })

for (const path of [
  '/chain/%E0%A4%A',
  '/%00',
  '/chain/tips?address=%E0%A4%A',
  '/chain/tips?address[]=x',
  '/..%2f..%2fetc/passwd',
  '/chain/tips?%',
])
  test(`a hostile target is answered in our own words: ${path}`, async (t) => {
    const answer = await raw('GET', path)
    t.true([200, 400, 404].includes(answer.status), `${answer.status} ${answer.text}`)
    const body = JSON.parse(answer.text)
    if (answer.status !== 200)
      t.true(
        Object.values(errors).some(([, text]) => text === body.error),
        answer.text,
      )
  })

test('a method that is not offered is a 405 everywhere, in every spelling of HTTP', async (t) => {
  // Paths behind the session guard do not tell strangers which methods they have.
  const open = (await operations()).filter(({ path }) => !/^\/(creators|payouts)\//.test(path))
  for (const { path } of open)
    for (const method of ['PUT', 'PATCH', 'DELETE', 'PROPFIND']) {
      const answer = await raw(method, path)
      t.is(answer.status, 405, `${method} ${path}`)
      t.is(JSON.parse(answer.text).error, 'Method not allowed')
    }
  t.is((await raw('GET', '/payments/intent')).status, 405)
  t.is((await raw('POST', '/chain/tips')).status, 405)
  t.is((await raw('POST', '/openapi.json')).status, 405)
})

test('every answer has a request id of its own, and a refusal repeats it', async (t) => {
  const seen = new Set<string>()
  for (const [method, path] of [
    ['GET', '/openapi.json'],
    ['GET', '/nowhere'],
    ['PUT', '/chain/tips'],
    ['GET', '/chain/tips'],
    ['OPTIONS', '/chain/tips'],
    ['HEAD', '/chain/tips'],
    ['POST', '/auth/login'],
  ] as const) {
    const { headers, text } = await raw(method, path, { 'x-request-id': 'mine' })
    const id = String(headers['x-request-id'])
    t.regex(id, requestId)
    seen.add(id)
    if (text.startsWith('{"success":false')) t.is(JSON.parse(text).requestId, id)
  }
  t.is(seen.size, 7)
})

test('pages of any origin may use the public routes, without credentials', async (t) => {
  for (const path of ['/payments/intent', '/chain/tips', '/chain/tips/create', '/chain/tips/stream']) {
    const asked = await raw('OPTIONS', path, {
      ...preflight,
      'access-control-request-headers': 'content-type',
    })
    t.is(asked.status, 204, path)
    t.is(asked.text, '')
    t.is(asked.headers['access-control-allow-origin'], '*')
    t.is(asked.headers['access-control-allow-credentials'], undefined)
    t.regex(asked.headers['access-control-allow-methods'] ?? '', /POST/)
    t.is(asked.headers['access-control-allow-headers'], 'content-type')
    const method = path === '/chain/tips' || path.endsWith('stream') ? 'GET' : 'POST'
    const refused = await raw(method, path, { origin: preflight.origin })
    t.is(refused.status, 400)
    t.is(refused.headers['access-control-allow-origin'], '*', 'a page may read why it was refused')
    t.regex(refused.headers['access-control-expose-headers'] ?? '', /X-Request-Id.*Retry-After/)
  }
})

test('an unknown path and a wrong method of a public route can be read by pages too', async (t) => {
  for (const [method, path] of [
    ['GET', '/chain/nowhere'],
    ['PUT', '/chain/tips'],
  ] as const)
    t.is((await raw(method, path, { origin: preflight.origin })).headers['access-control-allow-origin'], '*')
})

test('a public route is as public in capitals as it is served', async (t) => {
  const { status, headers } = await raw('GET', '/Chain/TIPS', { origin: preflight.origin })
  t.is(status, 400, 'the router finds it')
  t.is(headers['access-control-allow-origin'], '*')
})

test('account routes tell no page anything', async (t) => {
  for (const path of [
    '/auth/login',
    '/auth/register',
    '/auth/me',
    '/auth/logout',
    '/openapi.json',
    '/nowhere',
  ])
    for (const method of ['OPTIONS', 'GET', 'POST']) {
      const { headers } = await raw(method, path, preflight)
      t.deepEqual(
        Object.keys(headers).filter((name) => name.startsWith('access-control-')),
        [],
        `${method} ${path}`,
      )
    }
})

test('every answer carries the security headers and does not name the software', async (t) => {
  for (const path of ['/openapi.json', '/nowhere', '/chain/tips', '/auth/me']) {
    const { headers } = await raw('GET', path)
    t.is(headers['x-content-type-options'], 'nosniff', path)
    t.is(headers['x-frame-options'], 'SAMEORIGIN')
    t.is(headers['content-security-policy'], "default-src 'none';frame-ancestors 'none'")
    t.is(headers['x-powered-by'], undefined)
    t.is(headers['server'], undefined)
  }
})

test('HEAD answers as GET does, without a body', async (t) => {
  const address = strangerWallet()
  for (const path of [
    '/openapi.json',
    `/chain/tips?address=${address}`,
    '/chain/tips',
    '/auth/me',
    '/nowhere',
  ]) {
    const [get, head] = [await raw('GET', path), await raw('HEAD', path)]
    t.is(head.status, get.status, path)
    t.is(head.text, '')
    t.is(head.headers['content-type'], get.headers['content-type'])
  }
})

test('HEAD of a stream ends, and the connection serves the next request', async (t) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => agent.destroy())
  const { hostname, port } = new URL(world().url)
  const ask = (method: string, path: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const sent = httpRequest({ hostname, port, method, path, agent, timeout: 2000 }, (answer) => {
        answer.resume().on('end', () => resolve(answer.statusCode ?? 0))
      })
      sent.on('timeout', () => sent.destroy(new Error(`${method} ${path} hangs`)))
      sent.on('error', reject).end()
    })
  t.is(await ask('HEAD', `/chain/tips/stream?wallet=${strangerWallet()}`), 200)
  t.is(await ask('GET', `/chain/tips?address=${strangerWallet()}`), 200)
})

/** What a library, a runtime or a database would say. */
const inside =
  /\bat .+:\d+:\d+|node_modules|\/src\/|\.js\b|SyntaxError|TypeError|Unexpected|zod|too_small|invalid_type|koa|knex|postgres|relation "|ECONN|undefined|\[object/i

test('no answer to a bad request says anything of what is inside', async (t) => {
  for (const { path, method } of await operations())
    for (const [name, options] of Object.entries(badBodies)) {
      if (method === 'get' || method === 'delete') continue
      const { body, headers } = options
      const text = typeof body === 'string' ? body : JSON.stringify(body)
      const answer = await raw(
        method.toUpperCase(),
        path,
        { 'content-type': 'application/json', ...headers },
        text,
      )
      t.notRegex(answer.text, inside, `${path} ${name}`)
      t.true(answer.status >= 400 && answer.status < 500, `${path} ${name} ${answer.status}`)
      t.deepEqual(Object.keys(JSON.parse(answer.text)).sort(), ['code', 'error', 'requestId', 'success'])
    }
})
