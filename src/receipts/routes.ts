import type { Knex } from 'knex'
import type { Context, Middleware } from 'koa'
import { acceptShort, giveShortBack } from '../fiat/refunds/decide-short.js'
import { type Route, route } from '../http/endpoint.js'
import type { Pages } from '../http/pages/built-pages.js'
import { chooseLanguage } from '../http/pages/language.js'
import { plainPage, sendPlainPage } from '../http/pages/plain-page.js'
import { sendPage } from '../http/pages/send-page.js'
import { noStore } from '../http/security/response-headers.js'
import { DomainError } from '../kernel/errors.js'
import { presentKey } from '../kernel/signing-key.js'
import { cachedFor } from '../platform/cached-for.js'
import { listReportKeys } from '../reserves/reports/report-rows.js'
import type { Services } from '../services.js'
import { findPayment } from './find-payment.js'
import { listReceiptKeys, publishKey, receiptOf, signReceipt } from './receipt.js'
import { keysAnswer, keysInput, receiptAnswer, receiptInput } from './schemas.js'
import { missingPage, statusPage, undecidedPage } from './status-page.js'

type Needs = Pick<Services, 'db' | 'config' | 'transact' | 'metrics'>

const cachedMs = 30_000
const cacheMinute = 'public, max-age=60'

/** The addresses of payments: a page for people, the signed receipt, and the keys that check it. */
export function createReceipts(services: Needs, pages: Pages) {
  const { db, config } = services
  let published: Promise<void> | undefined
  /** Once per process. A failed attempt is repeated. */
  const publishOnce = (): Promise<void> => {
    published ??= publishKey(db, config)
    published.catch(() => {
      published = undefined
    })
    return published
  }
  const keys = cachedFor(cachedMs, async () => {
    await publishOnce()
    return listKeys(db)
  })
  const routes: Route[] = [
    route(
      {
        method: 'get',
        path: '/t/:token.json',
        summary: 'The signed receipt of a paid tip, for whoever has its status link',
        credential: 'none',
        limit: 'reads',
        input: receiptInput,
        invalid: 'not_found',
        output: receiptAnswer,
        errors: ['not_found', 'tip_not_paid'],
      },
      async ({ token }) => {
        const payment = await findPayment(db, token)
        if (payment === undefined) throw new DomainError('not_found')
        const receipt = receiptOf(config, payment, new Date())
        if (receipt === undefined) throw new DomainError('tip_not_paid')
        await publishOnce()
        return signReceipt(config, receipt)
      },
      [noStore],
    ),
    route(
      {
        method: 'get',
        path: '/.well-known/tipping-keys.json',
        summary: 'The keys that sign receipts and reserve reports, as a JWK Set',
        credential: 'none',
        limit: 'reads',
        input: keysInput,
        invalid: 'not_found',
        output: keysAnswer,
        errors: [],
      },
      async (_, ctx) => {
        ctx.set('Cache-Control', cacheMinute)
        return { keys: await keys() }
      },
    ),
  ]

  /** What the address names, and how its reader is answered. Undefined: it names no payment, and 404 is the answer. */
  async function findAsked(ctx: Context) {
    ctx.set('Cache-Control', 'no-store')
    const token = tokenOf(ctx)
    const payment = await findPayment(db, token)
    const reader = { contact: config.http.contact, language: chooseLanguage(ctx, payment?.language) }
    if (payment !== undefined) return { token, payment, reader }
    sendPlainPage(ctx, plainPage(missingPage(reader)), 404)
    return undefined
  }

  /** `GET /t/:token`. It needs no script, because in-app browsers of banks may not run one. */
  const serveStatus: Middleware = async (ctx) => {
    const asked = await findAsked(ctx)
    if (asked === undefined) return
    const { token, payment, reader } = asked
    const signed = receiptOf(config, payment, new Date()) !== undefined
    const { watchDays } = config.fiat
    const page = statusPage(payment, { ...reader, watchDays, token, signedToken: signed ? token : undefined })
    sendPlainPage(ctx, plainPage(page))
  }

  /** `POST /t/:token/accept` and `/give-back`: the payer of too little decides. The body says nothing we need. */
  const takeDecision: Middleware = async (ctx) => {
    const asked = await findAsked(ctx)
    if (asked === undefined) return
    const { token, payment, reader } = asked
    const { creatorId } = payment.creator
    if (creatorId === null) return sendPlainPage(ctx, plainPage(missingPage(reader)), 404)
    const decide = ctx.path.endsWith('/accept') ? acceptShort : giveShortBack
    try {
      await decide(services, creatorId, payment.intentId, 'payer')
    } catch (error) {
      if (!(error instanceof DomainError)) throw error
      if (error.code !== 'short_decided') return sendPlainPage(ctx, plainPage(undecidedPage(reader)), 409)
    }
    // The page says what was decided, also by somebody else.
    ctx.status = 303
    ctx.redirect(`/t/${token}`)
  }

  /** `GET /verify`: checks a receipt in the browser. The keys come with the page, so it asks nobody. */
  const serveVerify: Middleware = async (ctx) => {
    sendPage(ctx, pages, {
      name: 'verify',
      title: 'Check a receipt',
      theme: 'light',
      data: { keys: JSON.stringify((await keys()).filter(({ signs }) => signs === 'receipts')) },
      policy: { frameAncestors: "'none'" },
    })
  }
  return { routes, serveStatus, takeDecision, serveVerify }
}

const tokenOf = (ctx: Context): string => String(ctx['params'].token)

async function listKeys(db: Knex) {
  const [receipts, reports] = await Promise.all([listReceiptKeys(db), listReportKeys(db)])
  return [
    ...receipts.map((key) => ({
      ...presentKey(key),
      signs: 'receipts' as const,
      since: key.since.toISOString(),
    })),
    ...reports.map((key) => ({
      ...presentKey(key),
      signs: 'reports' as const,
      since: key.since.toISOString(),
    })),
  ]
}
