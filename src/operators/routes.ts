import type { RequestListener } from 'node:http'
import Router from '@koa/router'
import Koa from 'koa'
import { trustProxies } from '../http/limits/trusted-proxies.js'
import { markPages } from '../http/pages/test-banner.js'
import { noStore, securityHeaders } from '../http/security/response-headers.js'
import { readSwitches } from '../platform/database/switches/switches.js'
import type { Services } from '../services.js'
import { type OperatorsLogin, requireLogin } from './auth.js'
import { listOpenCases } from './open-cases.js'
import { operatorsPage, pagePolicy } from './page.js'
import { countWork, listWork, type WorkCount, type WorkRow } from './work-rows.js'

const pagePath = '/ops'
/** Rows of each kind on the page. The command `work list` shows more. */
const rowsPerKind = 10

/** The operators' page: the cases that wait for a person, and the work rows. It only reads, and every path requires the login. */
export function operatorsPages(
  { config, db, log }: Pick<Services, 'config' | 'db' | 'log'>,
  login: OperatorsLogin,
): RequestListener {
  const app = new Koa()
  // Without this Koa prints errors as plain text, not as JSON.
  app.on('error', (error: unknown) => log.warn({ err: error }, "a request for the operators' page failed"))
  app.use(securityHeaders(false))
  app.use(noStore)
  app.use(markPages(config))
  app.use(trustProxies(config.http.trustProxy ?? 0))
  app.use(requireLogin(login))
  const router = new Router()
  router.get('/', (ctx) => ctx.redirect(pagePath))
  router.get(pagePath, async (ctx) => {
    const [counts, openCases, switches] = await Promise.all([
      countWork(db),
      listOpenCases(db),
      readSwitches(db),
    ])
    const rows = await listDueOrFailing(counts, (kind) => listWork(db, kind, rowsPerKind))
    ctx.set('Content-Security-Policy', pagePolicy)
    ctx.type = 'text/html; charset=utf-8'
    ctx.body = operatorsPage({ at: new Date(), counts, rows, openCases, switches })
  })
  app.use(router.routes())
  return app.callback()
}

/** The rows that are due or whose last attempt failed. */
async function listDueOrFailing(
  counts: readonly WorkCount[],
  list: (kind: WorkCount['kind']) => Promise<WorkRow[]>,
): Promise<WorkRow[]> {
  const busy = counts.filter(({ due, failing }) => due + failing > 0)
  const rows = await Promise.all(busy.map(({ kind }) => list(kind)))
  return rows.flat().filter(({ dueSeconds, lastError }) => dueSeconds > 0 || lastError !== null)
}
