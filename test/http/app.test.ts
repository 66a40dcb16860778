import { Agent, request as httpRequest } from 'node:http'
import test from 'ava'
import { isForWallets } from '../../src/http/errors/error-details.js'
import { errors } from '../../src/kernel/errors.js'
import { badBodies } from '../helpers/http/hostile-input.js'
import { readOperations } from '../helpers/http/openapi-document.js'
import { requestRaw } from '../helpers/http/raw-request.js'
import { unusedWallet } from '../helpers/make/supporter.js'
import { useWorld } from '../helpers/servers/world.js'

const world = useWorld(test)
const operations = () => readOperations(world().request)
const raw = (method: string, path: string, headers?: Record<string, string>, body?: string) =>
  requestRaw(world().url, method, path, headers, body)

const preflight = { origin: 'https://page.example', 'access-control-request-method': 'POST' }
const requestId = /^[0-9a-f-]{36}$/

test('`/` and a missing page are HTML where Accept names it, else the JSON error; paths of the API stay JSON', async (t) => {
  const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
  for (const [path, status, title] of [
    ['/', 200, 'Tips in crypto and naira'],
    ['/nowhere', 404, 'Page not found'],
    ['/docs/nowhere', 404, 'Page not found'],
  ] as const)
    for (const method of ['GET', 'HEAD']) {
      const page = await raw(method, path, { accept: browser })
      t.is(page.status, status, path)
      t.is(page.headers['content-type'], 'text/html; charset=utf-8')
      t.regex(page.headers.vary ?? '', /Accept/)
      t.regex(String(page.headers['x-request-id']), requestId)
      t.regex(
        String(page.headers['content-security-policy']),
        /^default-src 'none'; style-src 'sha256-\S+'; img-src 'self';.* frame-ancestors 'none'$/,
      )
      if (method === 'GET') t.true(page.text.includes(`<h1>${title}</h1>`))
    }
  const library = 'text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2'
  for (const [method, path, accept] of [
    ['GET', '/', '*/*'],
    ['GET', '/', 'application/json'],
    ['GET', '/nowhere', 'application/json, text/html;q=0.5'],
    ['GET', '/nowhere', 'text/html;q=0'],
    ['POST', '/nowhere', browser],
    ['GET', '/chain/nowhere', library],
    ['GET', '/SDK/nowhere', browser],
    ['GET', '/payments/fiat/status?intentId=fiatpay_0', browser],
  ] as const) {
    const answer = await raw(method, path, { accept })
    t.is(answer.status, 404, `${method} ${path}`)
    t.is(JSON.parse(answer.text).success, false)
  }
})

test('browsers find an icon at /favicon.ico', async (t) => {
  const { status, headers, text } = await raw('GET', '/favicon.ico')
  t.deepEqual([status, headers['content-type']], [200, 'image/svg+xml'])
  t.is(text, (await raw('GET', '/pay-icon.svg')).text)
})

for (const path of [
  '/chain/%E0%A4%A',
  '/%00',
  '/chain/tips?address=%E0%A4%A',
  '/chain/tips?address[]=x',
  '/..%2f..%2fetc/passwd',
  '/chain/tips?%',
])
  test(`the malformed target ${path} gets one of the API's answers`, async (t) => {
    const answer = await raw('GET', path)
    t.true([200, 400, 404].includes(answer.status), `${answer.status} ${answer.text}`)
    const body = JSON.parse(answer.text)
    if (answer.status !== 200)
      t.true(
        Object.values(errors).some(([, text]) => text === body.error),
        answer.text,
      )
  })

test('every path answers 405 to an unknown method', async (t) => {
  // Paths behind the session guard answer 401 without a session.
  const open = (await operations()).filter(({ path }) => !/^\/(creators|payouts)\//.test(path))
  const served = open.map(({ method, path }) => ({
    method: method.toUpperCase(),
    // A parameter takes any segment: `/auth/passkeys/options` is a path of `/auth/passkeys/{id}` too.
    pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`),
  }))
  for (const { path } of open)
    for (const method of ['PUT', 'PATCH', 'DELETE', 'PROPFIND']) {
      if (served.some((route) => route.method === method && route.pattern.test(path))) continue
      const answer = await raw(method, path)
      t.is(answer.status, 405, `${method} ${path}`)
      t.is(JSON.parse(answer.text).error, 'Method not allowed')
    }
  t.is((await raw('GET', '/payments/intent')).status, 405)
  t.is((await raw('POST', '/chain/tips')).status, 405)
  t.is((await raw('POST', '/openapi.json')).status, 405)
})

test('every answer has its own request id, and an error body repeats it', async (t) => {
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
    t.true(id > ([...seen].at(-1) ?? '').slice(0, 13), 'they come in order of time')
    seen.add(id)
    if (text.startsWith('{"success":false')) t.is(JSON.parse(text).requestId, id)
  }
  t.is(seen.size, 7)
})

test('CORS lets pages of any origin use the public routes, without credentials', async (t) => {
  for (const path of ['/payments/intent', '/chain/tips', '/chain/tips/create', '/chain/tips/stream']) {
    const allowed = await raw('OPTIONS', path, {
      ...preflight,
      'access-control-request-headers': 'content-type',
    })
    t.is(allowed.status, 204, path)
    t.is(allowed.text, '')
    t.is(allowed.headers['access-control-allow-origin'], '*')
    t.is(allowed.headers['access-control-allow-credentials'], undefined)
    t.regex(allowed.headers['access-control-allow-methods'] ?? '', /POST/)
    t.is(allowed.headers['access-control-allow-headers'], 'content-type')
    const method = path === '/chain/tips' || path.endsWith('stream') ? 'GET' : 'POST'
    const refused = await raw(method, path, { origin: preflight.origin })
    t.is(refused.status, 400)
    t.is(refused.headers['access-control-allow-origin'], '*', 'a page may read the error')
    t.regex(refused.headers['access-control-expose-headers'] ?? '', /X-Request-Id.*Retry-After/)
  }
})

test('account routes send no CORS headers', async (t) => {
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

test('every answer has the security headers and does not name the software', async (t) => {
  for (const path of ['/openapi.json', '/nowhere', '/chain/tips', '/auth/me']) {
    const { headers } = await raw('GET', path)
    t.is(headers['x-content-type-options'], 'nosniff', path)
    t.is(headers['x-frame-options'], 'SAMEORIGIN')
    t.is(headers['content-security-policy'], "default-src 'none';frame-ancestors 'none'")
    t.regex(String(headers['permissions-policy']), /\bcamera=\(\), .*\bpublickey-credentials-get=\(\)$/)
    t.is(headers['x-powered-by'], undefined)
    t.is(headers['server'], undefined)
  }
})

test('only the dashboard may ask for passkeys', async (t) => {
  for (const [path, allowed] of [
    ['/dashboard', '(self)'],
    ['/dashboard/withdraw', '(self)'],
    ['/overlay', '()'],
    ['/embed/nothing', '()'],
    ['/paid', '()'],
    ['/docs', '()'],
  ] as const) {
    const policy = (await raw('GET', path)).headers['permissions-policy'] ?? ''
    for (const name of ['publickey-credentials-create', 'publickey-credentials-get'])
      t.is(new RegExp(`\\b${name}=([^,]+)`).exec(String(policy))?.[1], allowed, path)
    t.regex(String(policy), /\bcamera=\(\), .*\bpayment=\(\)/)
  }
})

test('HEAD answers like GET, without a body', async (t) => {
  const address = unusedWallet()
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

test('HEAD of a stream ends, and its connection serves the next request', async (t) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => agent.destroy())
  const { hostname, port } = new URL(world().url)
  const send = (method: string, path: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const sent = httpRequest({ hostname, port, method, path, agent, timeout: 30_000 }, (answer) => {
        answer.resume().on('end', () => resolve(answer.statusCode ?? 0))
      })
      sent.on('timeout', () => sent.destroy(new Error(`${method} ${path} hangs`)))
      sent.on('error', reject).end()
    })
  t.is(await send('HEAD', `/chain/tips/stream?wallet=${unusedWallet()}`), 200)
  t.is(await send('GET', `/chain/tips?address=${unusedWallet()}`), 200)
})

/** Texts of libraries, the runtime or the database. */
const internalText =
  /\bat .+:\d+:\d+|node_modules|\/src\/|\.js\b|SyntaxError|TypeError|Unexpected|zod|too_small|invalid_type|koa|knex|postgres|relation "|ECONN|undefined|\[object/i

/** What these endpoints say to a body that they cannot read. */
const ownTexts: Readonly<Record<string, string>> = {
  '/auth/register': 'Invalid payload: Name must be 2-100 characters and password min 8 characters.',
  '/auth/login': 'Invalid payload',
  '/auth/otp/start': 'Email required',
  '/auth/otp/verify': 'Invalid or expired code',
  '/payments/intent': 'creatorId, amount, inputTokenMint and sourceWalletAddress are required',
  '/payments/fiat/intent': 'creatorId and amount are required',
  '/chain/tips/create': 'creatorWallet, tipAmount, senderWallet and txSignature are required',
  '/sdk/handoff/redeem': 'code is required',
}

/** Sends every body that no endpoint can read to this one. */
async function sendBadBodies(method: string, path: string) {
  const answers = Object.entries(badBodies).map(async ([name, { body, headers }]) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const answer = await raw(method, path, { 'content-type': 'application/json', ...headers }, text)
    return { ...answer, what: `${path} ${name}` }
  })
  return Promise.all(answers)
}

test('an unreadable body has the text of its endpoint, and answers contain no internal text', async (t) => {
  for (const { path, method } of await operations()) {
    if (method === 'get' || method === 'delete') continue
    for (const { status, text, what } of await sendBadBodies(method.toUpperCase(), path)) {
      t.notRegex(text, internalText, what)
      t.true(status >= 400 && status < 500, `${what} ${status}`)
      const body = JSON.parse(text)
      t.is(body.error, ownTexts[path] ?? body.error, what)
      const own = ['code', ...(status === 400 ? ['details'] : []), 'error']
      const forWallets = isForWallets(path) ? ['message'] : []
      t.deepEqual(Object.keys(body).sort(), [...own, ...forWallets, 'requestId', 'success'])
    }
  }
})
