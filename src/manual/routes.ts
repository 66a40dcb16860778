import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import type Router from '@koa/router'
import type { Context, Middleware } from 'koa'
import type { Pages } from '../http/pages/built-pages.js'
import { markPage } from '../http/pages/test-banner.js'
import type { Installation } from './calls.js'
import { llmsText, manualMarkdown, manualOf } from './manual.js'
import { manualPage } from './page.js'
import type { OpenApi } from './read-openapi.js'
import { styleSheet } from './style.js'

/** A rendered document, ready to send. */
interface Document {
  readonly type: string
  readonly plain: Buffer
  readonly zipped: Buffer
  readonly tag: string
}

const pagePolicy =
  "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; " +
  "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
const cacheFiveMinutes = 'public, max-age=300'
const cacheForever = 'public, max-age=31536000, immutable'

/**
 * Serves the manual: `/docs` as a page, `/docs.md` and `/llms.txt` as text, `/openapi.json`, and the stylesheet under a name
 * that changes with its content. Each document is rendered on the first request and then cached.
 */
export function mountDocs(
  router: Router,
  guard: Middleware,
  { document, text }: { readonly document: OpenApi; readonly text: string },
  installation: Installation,
  pages: Pages,
): void {
  const style = documentOf('text/css; charset=utf-8', styleSheet)
  const styleName = `${style.tag}.css`
  const manual = once(() => manualOf(document, installation))
  const page = once(() =>
    documentOf(
      'text/html; charset=utf-8',
      markPage(installation, manualPage(manual(), { style: `/docs/${styleName}`, ...pages.files('manual') })),
    ),
  )
  const markdown = once(() => documentOf('text/markdown; charset=utf-8', manualMarkdown(manual())))
  const llms = once(() => documentOf('text/plain; charset=utf-8', llmsText(manual())))
  router.get('/docs', guard, async (ctx) => {
    ctx.set('Content-Security-Policy', pagePolicy)
    ctx.set('Referrer-Policy', 'no-referrer')
    sendDocument(ctx, page(), cacheFiveMinutes)
  })
  router.get('/docs.md', guard, async (ctx) => sendDocument(ctx, markdown(), cacheFiveMinutes))
  router.get('/llms.txt', guard, async (ctx) => sendDocument(ctx, llms(), cacheFiveMinutes))
  const openApi = once(() => documentOf('application/json; charset=utf-8', text))
  router.get('/openapi.json', async (ctx) => sendDocument(ctx, openApi(), 'no-cache'))
  router.get('/docs/:style', async (ctx) => {
    if (ctx['params']['style'] === styleName) sendDocument(ctx, style, cacheForever)
  })
}

function documentOf(type: string, text: string): Document {
  const plain = Buffer.from(text)
  const tag = createHash('sha256').update(plain).digest('base64url').slice(0, 16)
  return { type, plain, zipped: gzipSync(plain, { level: 9 }), tag }
}

function sendDocument(ctx: Context, { type, plain, zipped, tag }: Document, cache: string): void {
  const encoded = ctx.acceptsEncodings('gzip', 'identity') === 'gzip'
  ctx.status = 200
  ctx.type = type
  ctx.set('Cache-Control', cache)
  ctx.vary('Accept-Encoding')
  // The compressed body has other bytes, so it has its own tag.
  ctx.etag = encoded ? `${tag}-gzip` : tag
  if (ctx.fresh) {
    ctx.status = 304
    return
  }
  if (encoded) ctx.set('Content-Encoding', 'gzip')
  ctx.body = encoded ? zipped : plain
}

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
