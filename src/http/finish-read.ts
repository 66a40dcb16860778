import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, gzip, constants as zlib } from 'node:zlib'
import type { Context, Middleware } from 'koa'

/** A smaller answer fits one packet anyway. */
const leastBytes = 1024

const compressors = {
  // More effort costs several times the CPU for a tenth of the bytes.
  br: (bytes: Buffer) => promisify(brotliCompress)(bytes, { params: { [zlib.BROTLI_PARAM_QUALITY]: 4 } }),
  gzip: (bytes: Buffer) => promisify(gzip)(bytes),
} as const

/**
 * The end of a GET whose answer is a whole text. One that may be stored gets an `ETag`, and 304 when the caller has it already; it is
 * weak, since it names the text in any encoding. It is compressed, as are lists (`isList`). Nothing else of `no-store` is: in a
 * compressed answer the length tells a secret to who can put text beside it (BREACH).
 */
export async function finishRead(ctx: Context, isList: boolean): Promise<void> {
  const { body } = ctx
  if (ctx.status !== 200 || !isText(body)) return
  const mayStore = ctx.res.getHeader('Cache-Control') !== 'no-store'
  if (!mayStore && !isList) return
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
  ctx.vary('Accept-Encoding')
  if (mayStore) {
    // Without it a cache may guess how long the answer stays true.
    if (!ctx.res.hasHeader('Cache-Control')) ctx.set('Cache-Control', 'no-cache')
    ctx.set('ETag', `W/"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`)
    if (ctx.fresh) {
      ctx.status = 304
      return
    }
  }
  await compress(ctx, bytes)
}

/** Answers with these bytes in an encoding that the caller takes. */
async function compress(ctx: Context, bytes: Buffer): Promise<void> {
  const encoding = bytes.length < leastBytes ? 'identity' : ctx.acceptsEncodings('br', 'gzip', 'identity')
  if (encoding !== 'br' && encoding !== 'gzip') {
    ctx.body = bytes
    return
  }
  ctx.set('Content-Encoding', encoding)
  ctx.body = await compressors[encoding](bytes)
}

/** Compresses documents that are made for each request (http/pages/send-page.ts). They have no secret that their length could betray. */
export const compressDocuments: Middleware = async (ctx, next) => {
  await next()
  if (ctx.state['compressible'] !== true || typeof ctx.body !== 'string') return
  ctx.vary('Accept-Encoding')
  await compress(ctx, Buffer.from(ctx.body))
}

/** Not a stream of events, which has no body here, nor another stream. */
function isText(body: unknown): body is object | string {
  if (typeof body === 'string') return true
  return typeof body === 'object' && body !== null && !Buffer.isBuffer(body) && !('pipe' in body)
}
