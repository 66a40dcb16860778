import Router from '@koa/router'
import Koa from 'koa'
import { collectDefaultMetrics, register } from 'prom-client'

/** The peer of `npm run bench -- streams`: the simplest event streams in Koa. `POST /event` writes one event to every reader. */
const readers = new Set<Koa.Context['res']>()
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

const router = new Router()
router.get('/health', (ctx) => {
  ctx.body = 'ok'
})
router.get('/metrics', async (ctx) => {
  ctx.body = await register.metrics()
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
new Koa().use(router.routes()).listen(Number(process.env['PORT']))
process.on('SIGTERM', () => process.exit(0))
