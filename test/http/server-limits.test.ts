import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import { createHttpServer, serverLimits } from '../../src/http/server.js'
import { encodeBase58 } from '../../src/kernel/base58.js'
import { startApp } from '../helpers/servers/serve-app.js'
import { useWorld } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'

const world = useWorld(test)
const unfinishedRequests = 200

function dial(t: ExecutionContext, url: string, text: string): Socket {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => undefined)
  socket.write(text)
  t.teardown(() => socket.destroy())
  return socket
}

/** Reads until the server closes the connection. Meanwhile `drip` is sent again and again. */
async function readToEnd(socket: Socket, drip = ''): Promise<string> {
  let text = ''
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1')
  })
  await until('the server closes the connection', () => {
    if (drip !== '') socket.write(drip)
    return socket.closed
  })
  return text
}

/** Starts a web process's server with time limits short enough for a test. */
async function startShortLimits(t: ExecutionContext): Promise<string> {
  const server = createHttpServer((_, response) => response.end('served'), {
    ...serverLimits,
    headersTimeout: 200,
    requestTimeout: 400,
    connectionsCheckingInterval: 50,
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
}

test('two hundred unfinished requests do not delay other requests', async (t) => {
  const { url, request } = world()
  const open = Array.from({ length: unfinishedRequests }, (_, i) =>
    dial(
      t,
      url,
      i % 2 === 0
        ? 'GET /chain/tips HTTP/1.1\r\nHost: x\r\nX-Slow: '
        : 'POST /chain/tips/create HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{',
    ),
  )
  await until('all are connected', () => open.every((socket) => socket.readyState === 'open'))
  for (let i = 0; i < 20; i++) {
    const startedAt = performance.now()
    t.is((await request('GET', '/chain/tips')).status, 400)
    t.true(performance.now() - startedAt < 5000)
  }
})

test('the server closes a connection whose request head does not end', async (t) => {
  const socket = dial(t, await startShortLimits(t), 'GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ')
  t.regex(await readToEnd(socket, 'a'), /^(HTTP\/1\.1 408 |$)/)
})

test('the server closes a connection whose request body does not end', async (t) => {
  const url = await startShortLimits(t)
  const socket = dial(t, url, 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n')
  await readToEnd(socket, 'a')
  t.true(socket.closed)
})

test('the server closes a connection whose client does not read the answer', async (t) => {
  const largeAnswer = Buffer.alloc(64 * 1024 * 1024)
  const server = createHttpServer((_, response) => response.end(largeAnswer), serverLimits, 300)
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const closed = new Promise((done) => server.on('connection', (socket) => socket.on('close', done)))
  dial(t, `http://127.0.0.1:${port}`, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n').pause()
  await closed
  t.pass()
})

test('a connection on which another protocol was asked for is closed after the answer', async (t) => {
  const upgrade = 'Connection: upgrade\r\nUpgrade: h2c\r\nContent-Length: 600000\r\n\r\n'
  const request = `POST /auth/logout HTTP/1.1\r\nHost: x\r\n${upgrade}${' '.repeat(600_000)}`
  const answer = await readToEnd(dial(t, world().url, request))
  t.regex(answer, /^HTTP\/1\.1 4\d\d .*\r\nConnection: close\r\n/is)
})

for (const [what, status, code, head] of [
  [
    'a head over 16 KB',
    '431 Request Header Fields Too Large',
    'headers_too_large',
    `X-Large: ${'a'.repeat(17 * 1024)}`,
  ],
  ['a header without a colon', '400 Bad Request', 'bad_request', 'no colon'],
  ['two lengths', '400 Bad Request', 'bad_request', 'Content-Length: 1\r\nContent-Length: 2'],
  ['an unknown expectation', '400 Bad Request', 'bad_request', 'Expect: the-unexpected'],
  ['no Host', '400 Bad Request', 'bad_request', ''],
] as const)
  test(`what the HTTP parser refuses is answered with JSON and X-Request-Id: ${what}`, async (t) => {
    const host = head === '' ? 'X-None: x' : `Host: x\r\n${head}`
    const request = `POST /chain/tips HTTP/1.1\r\n${host}\r\n\r\n`
    const [top = '', body = ''] = (await readToEnd(dial(t, world().url, request))).split('\r\n\r\n')
    t.true(top.startsWith(`HTTP/1.1 ${status}\r\n`), top)
    const id = /^x-request-id: ([0-9a-f-]{36})$/im.exec(top)?.[1]
    t.regex(top, /^content-type: application\/json/im)
    t.regex(top, /^connection: close$/im)
    t.regex(top, new RegExp(`^content-length: ${body.length}$`, 'im'))
    t.like(JSON.parse(body), { success: false, code, requestId: id })
  })

test('the limits are 10 s for the head and 30 s for the request, checked every 2 s', (t) => {
  t.like(serverLimits, { headersTimeout: 10_000, requestTimeout: 30_000, connectionsCheckingInterval: 2000 })
})

const path = `/chain/tips/stream?wallet=${encodeBase58(Buffer.alloc(32, 7))}`
const mostStreams = 20

async function limitedUrl(t: ExecutionContext): Promise<string> {
  return (await startApp(t, { ...world().env, RATE_LIMIT_FACTOR: '1', TRUST_PROXY: 'true' })).url
}

interface Opened {
  readonly status: number
  readonly response: IncomingMessage
  readonly close: () => void
}

function open(t: ExecutionContext, url: string, address: string): Promise<Opened> {
  return new Promise((resolve, reject) => {
    const headers = { 'x-forwarded-for': address }
    const sent: ClientRequest = request(new URL(path, url), { headers, agent: false })
    const close = (): void => {
      sent.destroy()
    }
    t.teardown(close)
    sent.on('error', reject).on('response', (response) => {
      // The teardown destroys the request, which is an error here.
      response.on('error', () => undefined).resume()
      resolve({ status: response.statusCode ?? 0, response, close })
    })
    sent.end()
  })
}

test('the 21st open stream of a client address is refused until another one closes', async (t) => {
  const url = await limitedUrl(t)
  const streams = await Promise.all(Array.from({ length: mostStreams }, () => open(t, url, '192.0.2.1')))
  t.true(streams.every(({ status }) => status === 200))
  const refused = await open(t, url, '192.0.2.1')
  t.is(refused.status, 429)
  t.true(String(refused.response.headers['content-type']).startsWith('application/json'))
  t.true(Number(refused.response.headers['retry-after']) >= 1)
  t.is((await open(t, url, '192.0.2.2')).status, 200, 'another address')
  streams[0]?.close()
  await until('another stream may open', async () => (await open(t, url, '192.0.2.1')).status === 200)
  t.is((await open(t, url, '192.0.2.1')).status, 429)
})

test('a stream refused for another reason does not count', async (t) => {
  const url = await limitedUrl(t)
  const openInvalid = () =>
    fetch(`${url}/chain/tips/stream?wallet=nonsense`, { headers: { 'x-forwarded-for': '192.0.2.1' } })
  for (let i = 0; i < mostStreams + 5; i++) t.is((await openInvalid()).status, 400)
})
