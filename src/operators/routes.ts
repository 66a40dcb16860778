import { createHash } from 'node:crypto'
import type { RequestListener } from 'node:http'
import { extname } from 'node:path'
import Router from '@koa/router'
import Koa, { type Context } from 'koa'
import { noStore } from '../http/security/no-store.js'
import { securityHeaders } from '../http/security/security-headers.js'
import type { OpenQueues } from '../platform/queue/queues.js'
import type { Services } from '../services.js'
import { type OperatorsLogin, requireLogin } from './auth.js'
import { type Board, createBoard } from './board.js'
import { listOpenCases } from './open-cases.js'
import { operatorsPage } from './page.js'
import { styleSheet } from './style.js'
import { listWork, sumWork, type WorkRow, type WorkSum } from './work-rows.js'

const place = '/ops'
const boardPlace = `${place}/queues`
const stylePath = `${place}/${createHash('sha256').update(styleSheet).digest('hex').slice(0, 16)}.css`
/** Rows of each kind on the page; the command lists more. */
const mostRows = 10

const pagePolicy =
  "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
/** Bull Board's page sets styles by itself and has a base address of its own. */
const boardPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; " +
  "font-src 'self'; base-uri 'self'; form-action 'none'; frame-ancestors 'none'"

/**
 * The operators' pages: `/ops` with the work and what waits for a person, as PostgreSQL has it, and Bull Board below
 * `/ops/queues`. They read only; everything wants the login.
 */
export function operatorsPages(
  { db, log }: Pick<Services, 'db' | 'log'>,
  queues: OpenQueues,
  login: OperatorsLogin,
): RequestListener {
  const app = new Koa()
  // Koa would print it as bare text among the JSON of the log.
  app.on('error', (error: unknown) => log.warn({ err: error }, "an operators' page was not answered"))
  app.use(securityHeaders(false))
  app.use(noStore)
  app.use(requireLogin(login))
  const router = new Router()
  router.get('/', (ctx) => ctx.redirect(place))
  router.get(place, async (ctx) => {
    const [sums, waiting] = await Promise.all([sumWork(db), listOpenCases(db)])
    const rows = await concerning(sums, (kind) => listWork(db, kind, mostRows))
    ctx.set('Content-Security-Policy', pagePolicy)
    ctx.type = 'text/html; charset=utf-8'
    ctx.body = operatorsPage({ at: new Date(), sums, rows, waiting }, stylePath, `${boardPlace}/`)
  })
  router.get(stylePath, (ctx) => {
    ctx.type = 'text/css; charset=utf-8'
    ctx.body = styleSheet
  })
  mountBoard(router, createBoard(queues, boardPlace))
  app.use(router.routes())
  app.use(router.allowedMethods())
  return app.callback()
}

/** The rows somebody may have to look at: failing ones, and those that are due. */
async function concerning(
  sums: readonly WorkSum[],
  list: (kind: WorkSum['kind']) => Promise<WorkRow[]>,
): Promise<WorkRow[]> {
  const busy = sums.filter(({ due, failing }) => due + failing > 0)
  const rows = await Promise.all(busy.map(({ kind }) => list(kind)))
  return rows.flat().filter(({ dueSeconds, lastError }) => dueSeconds > 0 || lastError !== null)
}

function mountBoard(router: Router, { views, page, reads, file }: Board): void {
  const showPage = (ctx: Context): void => {
    ctx.set('Content-Security-Policy', boardPolicy)
    ctx.type = 'text/html; charset=utf-8'
    ctx.body = page
  }
  for (const path of views) router.get(`${boardPlace}${path === '/' ? '' : path}`, showPage)
  for (const { path, read } of reads)
    router.get(`${boardPlace}${path}`, async (ctx) => {
      const { status, body } = await read({ query: ctx.query, params: ctx['params'] })
      ctx.status = status
      ctx.body = body
    })
  router.get(`${boardPlace}/static/*path`, (ctx) => {
    const path = String(ctx['params']['path'])
    const content = file(path)
    if (content === undefined) return
    ctx.type = extname(path)
    ctx.body = content
  })
}
