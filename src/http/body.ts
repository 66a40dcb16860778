import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { createBrotliDecompress, createUnzip } from 'node:zlib'
import type { Context } from 'koa'
import { DomainError, type ErrorCode, inputError } from '../kernel/errors.js'

const maxKilobytes = 64
const maxBytes = maxKilobytes * 1024
const maxDepth = 20
const decompressors = { gzip: createUnzip, deflate: createUnzip, br: createBrotliDecompress } as const
/** A byte order mark is no JSON. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const notUtf8 = 'must be UTF-8'
const tooLarge = `must have at most ${maxKilobytes} KB`
const notJson = 'is not a valid JSON object, or has a field __proto__'
/** How JSON can write half of a surrogate pair. UTF-8 itself cannot. */
const surrogateEscape = /\\ud[89a-f]/i

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
    if (!/^(utf-?8)?$/i.test(ctx.request.charset)) throw new Unreadable(notUtf8)
    const text = decode(await readBytes(ctx))
    const body = text === '' ? {} : parseObject(text)
    checkNodes(body)
    if (surrogateEscape.test(text)) checkTexts(body, invalid)
    return body
  } catch (error) {
    if (error instanceof DomainError) throw error
    throw inputError(invalid, 'body', error instanceof Unreadable ? error.message : 'did not arrive')
  }
}

/** The bytes of the body, decompressed. What is too large is not read to its end. */
function readBytes({ req, request }: Context): Promise<Buffer> {
  if ((request.length ?? 0) > maxBytes) throw new Unreadable(tooLarge)
  const body = decompressed(req)
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = []
    let size = 0
    body.on('data', (part: Buffer) => {
      size += part.length
      parts.push(part)
      if (size <= maxBytes) return
      req.unpipe()
      body.removeAllListeners('data').pause()
      reject(new Unreadable(tooLarge))
    })
    body.on('end', () => resolve(Buffer.concat(parts)))
    req.on('error', reject)
    body.on('error', () => reject(new Unreadable('cannot be decompressed')))
  })
}

function decompressed(req: IncomingMessage): Readable {
  const encoding = req.headers['content-encoding'] ?? 'identity'
  if (encoding === 'identity') return req
  if (!isKnown(encoding)) throw new Unreadable('must have a Content-Encoding of gzip, deflate or br, or none')
  return req.pipe(decompressors[encoding]())
}

const isKnown = (encoding: string): encoding is keyof typeof decompressors =>
  Object.hasOwn(decompressors, encoding)

function decode(bytes: Buffer): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw new Unreadable(notUtf8)
  }
}

function parseObject(text: string): Record<string, unknown> {
  const body = parse(text)
  if (Array.isArray(body)) throw new Unreadable('must be a JSON object')
  if (typeof body !== 'object' || body === null) throw new Unreadable(notJson)
  return body as Record<string, unknown>
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Unreadable(notJson)
  }
}

/** Iterative, because recursion on deep input could overflow the stack. */
function checkNodes(body: object): void {
  let level: object[] = [body]
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > maxDepth) throw new Unreadable(`must have at most ${maxDepth} levels`)
    if (level.some((node) => Object.hasOwn(node, '__proto__'))) throw new Unreadable(notJson)
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
