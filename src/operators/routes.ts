import { createHash } from 'node:crypto'
import type { RequestListener } from 'node:http'
import Router from '@koa/router'
import Koa, { type Context } from 'koa'
import { trustProxies } from '../http/limits/trusted-proxies.js'
import { noStore, securityHeaders } from '../http/security/response-headers.js'
import { readSwitches } from '../platform/database/switches/switches.js'
import type { Services } from '../services.js'
import { type OperatorsLogin, requireLogin } from './auth.js'
import { listOpenCases } from './open-cases.js'
import { operatorsPage, refreshScript } from './page.js'
import { findPath, pathOf, storyPage, subjectPaths } from './story-page.js'
import { styleSheet } from './style.js'
import { parseBefore, trace } from './trace/trace.js'
import { countWork, listWork, type WorkCount, type WorkRow } from './work-rows.js'

const pagePath = '/ops'
const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16)
const stylePath = `${pagePath}/${hashOf(styleSheet)}.css`
const scriptPath = `${pagePath}/${hashOf(refreshScript)}.js`
/** Rows of each kind on the page. The command `work list` shows more. */
const rowsPerKind = 10

const pagePolicy =
  "default-src 'none'; style-src 'self'; script-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

/**
 * The operators' pages: `/ops` shows the cases that wait for a person and the work rows, `/ops/tips/<id>` and the like the life of
 * one tip, withdrawal, intent or creator, which `/ops/find` finds by any of its names. They only read, and every path requires the
 * login.
 */
export function operatorsPages(
  { config, db, log }: Pick<Services, 'config' | 'db' | 'log'>,
  login: OperatorsLogin,
): RequestListener {
  const app = new Koa()
  // Without this Koa prints errors as plain text, not as JSON.
  app.on('error', (error: unknown) => log.warn({ err: error }, "a request for an operators' page failed"))
  app.use(securityHeaders(false))
  app.use(noStore)
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
    const view = { at: new Date(), counts, rows, openCases, switches }
    answerPage(ctx, operatorsPage(view, frame))
  })
  router.get(findPath, async (ctx) => {
    const text = new URLSearchParams(ctx.querystring).get('q')?.trim() ?? ''
    const story = await trace(db, text)
    if (story !== undefined) return ctx.redirect(pathOf(story))
    ctx.status = 404
    answerPage(ctx, storyPage(text, undefined, { ...frame, isOlder: false }))
  })
  for (const path of Object.values(subjectPaths))
    router.get(`${path}/:id`, async (ctx) => {
      const text = String(ctx['params']['id'])
      const before = parseBefore(new URLSearchParams(ctx.querystring).get('before') ?? '')
      const story = await trace(db, text, before)
      // Another name of it, or a thing of another kind.
      if (story !== undefined && pathOf(story) !== ctx.path) return ctx.redirect(pathOf(story))
      if (story === undefined) ctx.status = 404
      answerPage(ctx, storyPage(text, story, { ...frame, isOlder: before !== undefined }))
    })
  for (const [path, type, body] of [
    [stylePath, 'text/css; charset=utf-8', styleSheet],
    [scriptPath, 'text/javascript; charset=utf-8', refreshScript],
  ] as const)
    router.get(path, (ctx) => {
      ctx.type = type
      ctx.body = body
    })
  app.use(router.routes())
  app.use(router.allowedMethods())
  return app.callback()
}

const frame = { style: stylePath, script: scriptPath }

function answerPage(ctx: Context, page: string): void {
  ctx.set('Content-Security-Policy', pagePolicy)
  ctx.type = 'text/html; charset=utf-8'
  ctx.body = page
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
