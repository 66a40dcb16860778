import { connect, type Socket } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import { createHttpServer, serverLimits } from '../../src/http/server.js'
import { useWorld } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'

const world = useWorld(test)
const halfOpen = 200

function dial(t: ExecutionContext, url: string, text: string): Socket {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => undefined)
  socket.write(text)
  t.teardown(() => socket.destroy())
  return socket
}

/** Everything the server says until it hangs up; `drip` is sent all the while, again and again. */
async function lastWords(socket: Socket, drip = ''): Promise<string> {
  let text = ''
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1')
  })
  await until('the server hangs up', () => {
    if (drip !== '') socket.write(drip)
    return socket.closed
  })
  return text
}

/** The server of a web process with its patience cut to what a test can wait for. */
async function impatientUrl(t: ExecutionContext): Promise<string> {
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

test('two hundred requests that never end do not keep others from being served', async (t) => {
  const { url, request } = world()
  const open = Array.from({ length: halfOpen }, (_, i) =>
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
    t.true(performance.now() - startedAt < 1000)
  }
})

test('a head that does not end is hung up on', async (t) => {
  const socket = dial(t, await impatientUrl(t), 'GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ')
  t.regex(await lastWords(socket, 'a'), /^(HTTP\/1\.1 408 |$)/)
})

test('a body that does not end is hung up on', async (t) => {
  const url = await impatientUrl(t)
  const socket = dial(t, url, 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n')
  await lastWords(socket, 'a')
  t.true(socket.closed)
})

test('a head of more than 16 KB is refused', async (t) => {
  const head = `GET /chain/tips HTTP/1.1\r\nHost: x\r\nX-Large: ${'a'.repeat(17 * 1024)}\r\n\r\n`
  t.regex(await lastWords(dial(t, world().url, head)), /^HTTP\/1\.1 431 /)
})

test('slow callers have ten seconds for the head and thirty for the whole, looked at every two', (t) => {
  t.like(serverLimits, { headersTimeout: 10_000, requestTimeout: 30_000, connectionsCheckingInterval: 2000 })
})
