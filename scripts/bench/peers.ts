import { createServer as createHttpServer } from 'node:http'
import { createServer, type Socket } from 'node:net'
import Router from '@koa/router'
import Fastify from 'fastify'
import Koa from 'koa'
import { koaBody } from 'koa-body'
import pg from 'pg'
import { collectDefaultMetrics, register } from 'prom-client'

/**
 * The peers of the service. A tip is recorded by the simplest implementation in Koa and in Fastify, with one prepared INSERT and one
 * durable commit, over ten connections. The streams are bare sockets: `POST /event` writes one shared buffer to every reader.
 */
interface Tip {
  creatorWallet: string
  tipAmount: number
  senderWallet: string
  txSignature: string
}

const port = Number(process.env['PORT'])
const pool = new pg.Pool({ connectionString: process.env['DATABASE_URL'], max: 10 })
const wallet = 'DRpbCBMxVnDK7maPM5tGv6MvB3v1sRMC86PZ8okm21hy'
const event = {
  type: 'tip',
  id: 'x'.repeat(88),
  amount: 0.5,
  tokenSymbol: 'SOL',
  sender: wallet,
  recipient: wallet,
  message: null,
  timestamp: new Date().toISOString(),
}
collectDefaultMetrics()

async function record({ txSignature, creatorWallet, senderWallet, tipAmount }: Tip) {
  const { rowCount } = await pool.query({
    name: 'record',
    text: `insert into peer_tips (id, creator_wallet, sender, amount) values ($1, $2, $3, $4) on conflict (id) do nothing returning id`,
    values: [txSignature, creatorWallet, senderWallet, tipAmount],
  })
  return { success: true, tip: { id: txSignature, status: 'pending' }, created: rowCount === 1 }
}

function serveKoa(): void {
  const router = new Router()
  router.get('/health', (ctx) => {
    ctx.body = 'ok'
  })
  router.get('/metrics', async (ctx) => {
    ctx.body = await register.metrics()
  })
  router.post('/chain/tips/create', koaBody(), async (ctx) => {
    ctx.body = await record(ctx.request.body as unknown as Tip)
  })
  new Koa().use(router.routes()).listen(port)
}

/** Each connection whose request is for the stream is a reader from then on: a socket and nothing else. */
function serveSockets(): void {
  const readers = new Set<Socket>()
  const http = createHttpServer(async ({ url }, res) => {
    if (url === '/event') {
      const text = Buffer.from(`id: ${Date.now()}\ndata: ${JSON.stringify(event)}\n\n`)
      for (const reader of readers) reader.write(text)
    }
    res.end(url === '/metrics' ? await register.metrics() : 'ok')
  })
  createServer((socket) =>
    socket.once('data', (head) => {
      if (!head.toString().startsWith('GET /chain/tips/stream')) {
        socket.unshift(head)
        http.emit('connection', socket)
        return
      }
      socket.setNoDelay(true)
      socket.write(
        `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: {"status":"connected"}\n\n`,
      )
      socket.on('close', () => readers.delete(socket)).on('error', () => socket.destroy())
      readers.add(socket)
    }),
  ).listen(port)
}

async function serveFastify(): Promise<void> {
  const app = Fastify()
  app.get('/health', async () => 'ok')
  app.get('/metrics', () => register.metrics())
  app.post('/chain/tips/create', async (request) => record(request.body as Tip))
  await app.listen({ port, host: '127.0.0.1' })
}

if (process.argv[2] === 'fastify') await serveFastify()
else if (process.argv[2] === 'koa') serveKoa()
else serveSockets()
process.on('SIGTERM', () => process.exit(0))
