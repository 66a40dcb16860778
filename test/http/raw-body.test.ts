import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import Koa from 'koa'
import { readRawBody } from '../../src/http/raw-body.js'
import { DomainError } from '../../src/kernel/errors.js'
import { until } from '../helpers/until.js'

/** A server that answers with the number of bytes it was sent, at most 4 KB, or with what was wrong. */
async function startServer(t: ExecutionContext) {
  const problems: unknown[] = []
  const app = new Koa()
  app.use(async (ctx) => {
    try {
      ctx.body = String((await readRawBody(ctx, 4096, 'invalid_json')).length)
    } catch (error) {
      problems.push(error instanceof DomainError ? error.details?.[0]?.problem : error)
      ctx.status = 400
      ctx.body = String(problems.at(-1))
    }
  })
  const server = createServer(app.callback()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { problems, url: `http://127.0.0.1:${port}/` }
}

const large = 'must have at most 4 KB'

test('a raw body has its bytes, at most as many as are allowed, also without a length', async (t) => {
  const { url } = await startServer(t)
  const post = async (size: number, isChunked: boolean) => {
    const bytes = new Uint8Array(size)
    const body = isChunked ? new Blob([bytes]).stream() : bytes
    const answer = await fetch(url, { method: 'POST', body, duplex: 'half' } as RequestInit)
    return `${answer.status} ${await answer.text()} ${answer.headers.get('connection')}`
  }
  for (const isChunked of [false, true]) {
    t.is(await post(4096, isChunked), '200 4096 keep-alive')
    t.is(await post(4097, isChunked), `400 ${large} close`)
  }
})

test('a body that ends early is a refusal, not a failure of ours', async (t) => {
  const { problems, url } = await startServer(t)
  const sent = request(url, { method: 'POST', headers: { 'content-length': '100' } })
  sent.on('error', () => undefined)
  sent.write('half of it')
  sent.on('socket', (socket) => socket.once('connect', () => setImmediate(() => sent.destroy())))
  await until('the server notices', () => problems.length > 0)
  t.deepEqual(problems, ['did not arrive'])
})
