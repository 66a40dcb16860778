import Router from '@koa/router'
import Fastify from 'fastify'
import Koa from 'koa'
import { koaBody } from 'koa-body'
import pg from 'pg'
import { collectDefaultMetrics, register } from 'prom-client'

/**
 * The peers of the service: the simplest implementation in Koa and in Fastify. A tip is recorded with one prepared INSERT and one durable
 * commit, over ten connections; `POST /event` writes one event to every reader of the streams.
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
const readers = new Set<Koa.Context['res']>()
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
  router.get('/chain/tips/stream', (ctx) => {
    ctx.respond = false
    const { res } = ctx
    res.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' })
    res.write(`data: ${JSON.stringify({ status: 'connected', wallet })}\n\n`)
    readers.add(res)
    res.on('close', () => readers.delete(res))
  })
  router.post('/event', (ctx) => {
    for (const res of readers) res.write(`id: ${Date.now()}\ndata: ${JSON.stringify(event)}\n\n`)
    ctx.body = 'ok'
  })
  new Koa().use(router.routes()).listen(port)
}

async function serveFastify(): Promise<void> {
  const app = Fastify()
  app.get('/health', async () => 'ok')
  app.get('/metrics', () => register.metrics())
  app.post('/chain/tips/create', async (request) => record(request.body as Tip))
  await app.listen({ port, host: '127.0.0.1' })
}

if (process.argv[2] === 'fastify') await serveFastify()
else serveKoa()
process.on('SIGTERM', () => process.exit(0))
