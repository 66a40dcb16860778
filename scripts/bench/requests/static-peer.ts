import { readFileSync } from 'node:fs'
import { extname } from 'node:path'
import Koa from 'koa'
import { collectDefaultMetrics, register } from 'prom-client'

/** The floor of `npm run bench -- pages`: the bytes of the pages from memory. Argument: a file with them, by path. */
interface Stored {
  readonly type: string
  readonly encoding: string | undefined
  readonly base64: string
}

const stored: Record<string, Stored> = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'))
const files = new Map(
  Object.entries(stored).map(([path, { base64, ...file }]) => [
    path,
    { ...file, bytes: Buffer.from(base64, 'base64') },
  ]),
)
collectDefaultMetrics()

new Koa()
  .use(async (ctx) => {
    if (ctx.path === '/metrics') ctx.body = await register.metrics()
    else if (ctx.path === '/health') ctx.body = 'ok'
    const file = files.get(ctx.path)
    if (file === undefined) return
    ctx.type = extname(ctx.path) || file.type
    if (file.encoding !== undefined) ctx.set('content-encoding', file.encoding)
    ctx.body = file.bytes
  })
  .listen(Number(process.env['PORT']))
process.on('SIGTERM', () => process.exit(0))
