import Router from '@koa/router'
import Fastify from 'fastify'
import Koa from 'koa'
import { koaBody } from 'koa-body'
import pg from 'pg'
import { collectDefaultMetrics, register } from 'prom-client'

/**
 * The peers of `POST /chain/tips/create`: the simplest implementation in Koa and in Fastify. Both use one prepared INSERT
 * and one durable commit per request, over ten connections.
 */
interface Body {
  creatorWallet: string
  tipAmount: number
  senderWallet: string
  txSignature: string
}

const pool = new pg.Pool({ connectionString: process.env['DATABASE_URL'], max: 10 })
const port = Number(process.env['PORT'])
collectDefaultMetrics()

async function record({ txSignature, creatorWallet, senderWallet, tipAmount }: Body) {
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
  router.post('/chain/tips/create', async (ctx) => {
    ctx.body = await record(ctx.request.body as unknown as Body)
  })
  new Koa().use(koaBody()).use(router.routes()).listen(port)
}

async function serveFastify(): Promise<void> {
  const app = Fastify()
  app.get('/health', async () => 'ok')
  app.get('/metrics', () => register.metrics())
  app.post('/chain/tips/create', async (request) => record(request.body as Body))
  await app.listen({ port, host: '127.0.0.1' })
}

if (process.argv[2] === 'fastify') await serveFastify()
else serveKoa()
process.on('SIGTERM', () => process.exit(0))
