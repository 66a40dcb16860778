import type { Context } from 'koa'
import { koaBody, HttpMethodEnum as Method } from 'koa-body'
import { DomainError, type ErrorCode, inputError } from '../kernel/errors.js'

const maxKilobytes = 64
const maxDepth = 20

/**
 * JSON only. koa-body's default also takes forms and text/plain, which other sites' pages can post with our cookie. Its bytes
 * are read as Latin-1, which keeps each byte, so that text that is not UTF-8 can be refused instead of replaced.
 */
const readBody = koaBody({
  json: true,
  urlencoded: false,
  text: false,
  multipart: false,
  parsedMethods: [Method.POST, Method.PUT, Method.PATCH, Method.DELETE],
  jsonLimit: maxKilobytes * 1024,
  encoding: 'latin1',
  includeUnparsed: true,
  onError: (error) => {
    throw error
  },
})
const utf8 = new TextDecoder('utf-8', { fatal: true })
const notUtf8 = 'must be UTF-8'
const notAscii = /[\u0080-\uffff]/
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
    const { body, text } = await readText(ctx)
    checkNodes(body)
    if (surrogateEscape.test(text)) checkTexts(body, invalid)
    return body
  } catch (error) {
    if (error instanceof DomainError) throw error
    throw inputError(invalid, 'body', error instanceof Unreadable ? error.message : 'did not arrive')
  }
}

/** The body and its text. ASCII, which most bodies are, is the same in Latin-1 and UTF-8, so it is parsed only once. */
async function readText(ctx: Context): Promise<{ body: Record<string, unknown>; text: string }> {
  try {
    await readBody(ctx, async () => undefined)
  } catch (error) {
    throw new Unreadable(problemOf(error as BodyError))
  }
  const { body, rawBody = '' } = ctx.request
  if (!notAscii.test(rawBody)) return { body: objectOf(body ?? {}), text: rawBody }
  const text = decode(Buffer.from(rawBody, 'latin1'))
  return { body: objectOf(JSON.parse(text)), text }
}

interface BodyError {
  readonly status?: number
  /** `Z_...` of a body that cannot be decompressed. */
  readonly code?: string
}

function problemOf({ status, code = '' }: BodyError): string {
  if (status === 413) return `must have at most ${maxKilobytes} KB`
  if (status === 415) return 'must have a Content-Encoding of gzip, deflate or br, or none'
  if (code.startsWith('Z_')) return 'cannot be decompressed'
  return 'is not a valid JSON object, or has a field __proto__'
}

function decode(bytes: Buffer): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw new Unreadable(notUtf8)
  }
}

function objectOf(body: unknown): Record<string, unknown> {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new Unreadable('must be a JSON object')
  return body as Record<string, unknown>
}

/** Iterative, because recursion on deep input could overflow the stack. */
function checkNodes(body: object): void {
  let level: object[] = [body]
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > maxDepth) throw new Unreadable(`must have at most ${maxDepth} levels`)
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
