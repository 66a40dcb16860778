import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate, type ZlibOptions } from 'node:zlib'
import type { Context } from 'koa'
import { DomainError, type ErrorCode, inputError } from '../kernel/errors.js'

const maxKilobytes = 64
const maxBytes = maxKilobytes * 1024
const maxDepth = 20

type Decompress = (bytes: Buffer, options: ZlibOptions) => Promise<Buffer>
const decompressions: Readonly<Record<string, Decompress>> = {
  gzip: promisify<Buffer, ZlibOptions, Buffer>(gunzip),
  deflate: promisify<Buffer, ZlibOptions, Buffer>(inflate),
  br: promisify<Buffer, ZlibOptions, Buffer>(brotliDecompress),
}
const utf8 = new TextDecoder('utf-8', { fatal: true })

/** What is wrong with a body, for `details`. */
class Unreadable extends Error {}

/**
 * Reads the JSON object in the body, or `{}` without a body. Throws `invalid`, the endpoint's validation error, for
 * another content type (other sites' pages can post forms and text with our cookie) and for a body that is malformed, not
 * UTF-8, too large, too deep or not an object.
 */
export async function readJsonBody(ctx: Context, invalid: ErrorCode): Promise<Record<string, unknown>> {
  try {
    const type = ctx.is('application/json')
    if (type === null || ctx.request.length === 0) return {}
    if (type === false) throw new Unreadable('must have the Content-Type application/json')
    const bytes = await decompress(await readBytes(ctx), ctx.get('Content-Encoding'))
    const body = parseObject(decode(bytes, ctx))
    checkTexts(body, invalid)
    return body
  } catch (error) {
    if (error instanceof DomainError) throw error
    throw inputError(invalid, 'body', error instanceof Unreadable ? error.message : 'did not arrive')
  }
}

async function readBytes(ctx: Context): Promise<Buffer> {
  const tooLarge = `must have at most ${maxKilobytes} KB`
  if ((ctx.request.length ?? 0) > maxBytes) throw new Unreadable(tooLarge)
  const chunks: Buffer[] = []
  let size = 0
  // Unlike an iterator, these listeners do not destroy the connection, on which the answer must still be sent.
  return new Promise((resolve, reject) => {
    ctx.req.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size <= maxBytes) chunks.push(chunk)
      else reject(new Unreadable(tooLarge))
    })
    ctx.req.once('end', () => resolve(Buffer.concat(chunks)))
    ctx.req.once('error', reject)
    ctx.req.once('close', () => reject(new Error('The connection closed')))
  })
}

async function decompress(bytes: Buffer, encoding: string): Promise<Buffer> {
  const name = encoding.trim().toLowerCase() || 'identity'
  if (name === 'identity') return bytes
  const one = Object.hasOwn(decompressions, name) ? decompressions[name] : undefined
  if (one === undefined) throw new Unreadable('must have a Content-Encoding of gzip, deflate or br, or none')
  return one(bytes, { maxOutputLength: maxBytes }).catch(() => {
    throw new Unreadable(`is not ${name}, or has more than ${maxKilobytes} KB`)
  })
}

function decode(bytes: Buffer, ctx: Context): string {
  const notUtf8 = 'must be UTF-8'
  if (!/^(utf-?8)?$/i.test(ctx.request.charset)) throw new Unreadable(notUtf8)
  try {
    return utf8.decode(bytes)
  } catch {
    throw new Unreadable(notUtf8)
  }
}

function parseObject(text: string): Record<string, unknown> {
  if (text === '') return {}
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    throw new Unreadable('is not valid JSON')
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new Unreadable('must be a JSON object')
  checkNodes(body)
  return body as Record<string, unknown>
}

/** Iterative, because recursion on deep input could overflow the stack. */
function checkNodes(body: object): void {
  let level: object[] = [body]
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > maxDepth) throw new Unreadable(`must have at most ${maxDepth} levels`)
    // Copying such a field into an object would change the object's prototype.
    if (level.some((node) => Object.hasOwn(node, '__proto__')))
      throw new Unreadable('must not have a field __proto__')
    level = level.flatMap((node) =>
      Object.values(node).filter((child) => typeof child === 'object' && child !== null),
    )
  }
}

/** JSON can write half of a surrogate pair, which UTF-8 and PostgreSQL cannot hold. */
function checkTexts(body: Record<string, unknown>, invalid: ErrorCode): void {
  const problem = 'has half of a surrogate pair'
  for (const [field, value] of Object.entries(body)) {
    if (hasLoneSurrogate(field)) throw inputError(invalid, 'body', problem)
    if (hasLoneSurrogate(value)) throw inputError(invalid, field, problem)
  }
}

function hasLoneSurrogate(value: unknown): boolean {
  const nodes: unknown[] = [value]
  // The nodes inside a node are added while this iterates.
  for (const node of nodes) {
    if (typeof node === 'string' && /\p{Cs}/u.test(node)) return true
    if (typeof node === 'object' && node !== null)
      for (const pair of Object.entries(node)) nodes.push(...pair)
  }
  return false
}
