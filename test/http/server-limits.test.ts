import { connect, type Socket } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import { createHttpServer, serverLimits } from '../../src/http/server.js'
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

for (const [what, status, code, head] of [
  [
    'a head over 16 KB',
    '431 Request Header Fields Too Large',
    'headers_too_large',
    `X-Large: ${'a'.repeat(17 * 1024)}`,
  ],
  ['a header without a colon', '400 Bad Request', 'bad_request', 'no colon'],
  ['two lengths', '400 Bad Request', 'bad_request', 'Content-Length: 1\r\nContent-Length: 2'],
] as const)
  test(`what the HTTP parser refuses is answered with JSON and X-Request-Id: ${what}`, async (t) => {
    const request = `POST /chain/tips HTTP/1.1\r\nHost: x\r\n${head}\r\n\r\n`
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
