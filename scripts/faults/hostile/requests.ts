import { type Agent, request as httpRequest } from 'node:http'
import { gzipSync } from 'node:zlib'
import { errors } from '../../../src/kernel/errors.js'
import type { Draw } from '../../kit/draw.js'

export interface HostileRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly body: Buffer | undefined
}

/** Status 0: none came, and `text` says why. */
export interface Answer {
  readonly status: number
  readonly type: string
  readonly text: string
}

interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly minimum?: number
}

export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

interface Operation {
  readonly parameters?: readonly {
    readonly name: string
    readonly in: string
    readonly required?: boolean
    readonly schema: Schema
  }[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }
}

/** What a valid request may name, by the end of the field's name. Texts of the run: addresses, ids, e-mails. */
export type Known = readonly (readonly [field: RegExp, values: readonly unknown[]])[]

const answerMs = 60_000
const kb = 1024

const deepest = 9
const faultKinds = { value: 50, body: 15, type: 8, headers: 12, method: 4, path: 8, query: 8, parameter: 12 }
type FaultKind = keyof typeof faultKinds

/** Values that are JSON and are not meant. */
const hostileValues: readonly unknown[] = [
  null,
  true,
  [],
  {},
  [[[]]],
  -1,
  0.1,
  1e308,
  5e-324,
  2 ** 53 + 1,
  '',
  '9'.repeat(400),
  '1'.repeat(88),
  'O0Il'.repeat(11),
  '1'.repeat(32),
  'javascript:alert(1)',
  'https://user:secret@[::ffff:169.254.169.254]:1/../\\@x',
  'http://127.1:1/',
  'file:///etc/passwd',
  '\u200b\u2060\ufeff',
  '\u202egnp.exe',
  '\ud800',
  'x\ud83d',
  'a\u0000b',
  "'; drop table tips; --",
  '__proto__',
  '%00%ff',
  ' '.repeat(3000),
  '👩‍👩‍👧‍👦'.repeat(200),
  'Z\u0351\u032b'.repeat(400),
  'é'.repeat(9000),
  'a@'.repeat(5000),
  { constructor: { prototype: { x: 1 } } },
  Array.from({ length: 2000 }, () => 0),
]
/** JSON texts that JavaScript cannot write, in the place of a value. */
const rawValues = [
  'NaN',
  '1e400',
  '-1e400',
  '9007199254740993',
  '-0',
  '"\\ud800"',
  '"\\u0000"',
  '01',
  '1e-400',
]
const methods = 'GET HEAD POST PUT PATCH DELETE OPTIONS TRACE PROPFIND QUERY MKCOL M-SEARCH'.split(' ')
const pathTricks: readonly ((path: string) => string)[] = [
  (path) => `${path}/`,
  (path) => `/${path}`,
  (path) => path.toUpperCase(),
  (path) => `${path}%00`,
  (path) => `${path}/..%2f..%2fetc/passwd`,
  (path) => `${path}/%E0%A4%A`,
  (path) => `${path}%C0%AF`,
  (path) => path.replace(/[a-z]/, (one) => `%${one.charCodeAt(0).toString(16)}`),
  (path) => `${path};a=b`,
  (path) => `${path}/${'a'.repeat(9 * kb)}`,
  (path) => `http://evil.example${path}`,
  (path) => path.replace(/[^/]+$/, '__proto__'),
]
const queryTricks: readonly string[] = [
  'a=b&'.repeat(3000),
  'limit[]=1&limit=2&limit=%zz',
  '__proto__[x]=1&constructor=1',
  '%E0%A4%A=%',
  '\x7f=1',
  `after=${'9'.repeat(300)}&cursor=${'A'.repeat(5000)}&limit=-1&wait=NaN`,
  'cursor=eyJhIjpbXX0&from=0000-00-00&to=+275760-09-13T00:00:00Z&timeZone=../../etc',
  'address=%00&wallet=%F0%9F%92%A9',
  '?&=&&==',
]
const headerTricks: readonly Record<string, string | readonly string[]>[] = [
  { authorization: ['Bearer a', 'Bearer b'] },
  { authorization: `Bearer ${'x'.repeat(8 * kb)}` },
  { authorization: 'Basic ////' },
  { cookie: ['a=b', 'session=\u00ff; session=; __Host-session=%00'] },
  { cookie: 'a=b; '.repeat(2000) },
  { 'idempotency-key': '\u00e9'.repeat(100) },
  { 'idempotency-key': ['a', 'b'] },
  { 'x-forwarded-for': '::1, not an address, 999.0.0.1' },
  { 'x-request-id': "'\u00ff" },
  { traceparent: '00-00000000000000000000000000000000-0000000000000000-ff' },
  { 'last-event-id': '-1e999' },
  { accept: '*/*;q=NaN, text/html;q=2' },
  { 'accept-language': 'x-'.repeat(3000) },
  { 'accept-encoding': 'br;q=1e9, gzip, *;q=0' },
  { origin: 'null' },
  { origin: 'https://evil.example', 'access-control-request-method': 'DELETE' },
  { 'sec-fetch-site': 'cross-site' },
  { range: 'bytes=0-,-1,5-2' },
  { 'if-none-match': 'W/"'.repeat(1000) },
  { 'if-modified-since': 'yesterday' },
  { host: 'evil.example' },
  { 'x-http-method-override': 'DELETE' },
  { upgrade: 'h2c', connection: 'upgrade', 'http2-settings': 'AAAA' },
]
const contentTypes = [
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=b',
  'multipart/form-data',
  'text/plain',
  'application/json; charset=utf-16',
  'application/json; charset=utf-8; charset=klingon',
  'application/vnd.api+json',
  'application/octet-stream',
  'image/png',
  '',
  ';',
]

/** Bodies in the place of one that is JSON. */
function rawBody(draw: Draw, json: string): Buffer {
  const deep = 100_000
  const made: readonly (() => string | Buffer)[] = [
    () => `${'{"a":'.repeat(deep)}1${'}'.repeat(deep)}`,
    () => '['.repeat(deep),
    () => json.slice(0, draw.whole(0, json.length)),
    () => `${json.slice(0, -1)},"x":"${'x'.repeat(70 * kb)}"}`,
    () => json.replace(/:("(?:[^"\\]|\\.)*"|[^,{}[\]]+)/, `:${draw.oneOf(rawValues)}`),
    () => `\ufeff${json}`,
    () => `${json}${json}`,
    () => `[${json}]`,
    () => json.replace('{', '{"__proto__":{"a":1},"a":1,"a":2,'),
    () => Buffer.concat([Buffer.from(json.slice(0, -2)), Buffer.from([0xc3, 0x28, 0xff]), Buffer.from('"}')]),
    () => Buffer.from(json, 'utf16le'),
    () => 'a=b&email=a%40example.com&a[b][c]=d',
    () => '--b\r\ncontent-disposition: form-data; name="a"; filename="../../x"\r\n\r\nx\r\n--b--\r\n',
    () => Buffer.alloc(draw.whole(1, 2000), 0xfe),
    () => '',
  ]
  return Buffer.from(draw.oneOf(made)() as string)
}

/** Makes requests of a document's operations: valid ones as far as the schemas say it, most of them with one to three faults. */
export class RequestMaker {
  readonly #operations: readonly (readonly [method: string, path: string, operation: Operation])[]
  readonly #schemas: OpenApi['components']['schemas']
  readonly #draw: Draw
  readonly #known: Known

  constructor({ paths, components }: OpenApi, pages: readonly string[], draw: Draw, known: Known) {
    this.#operations = [
      ...Object.entries(paths).flatMap(([path, byMethod]) =>
        Object.entries(byMethod).map(([method, one]) => [method.toUpperCase(), path, one] as const),
      ),
      ...pages.map((path) => ['GET', path, {}] as const),
    ]
    this.#schemas = components.schemas
    this.#draw = draw
    this.#known = known
  }

  get operations(): number {
    return this.#operations.length
  }

  /** `nth`: every operation has its turn. Returns its name, too. */
  make(nth: number, credential: HostileRequest['headers']): readonly [string, HostileRequest] {
    const draw = this.#draw
    const [method, template, operation] = this.#operations[nth % this.operations] ?? ['GET', '/', {}]
    const wrong = new Set(
      Array.from({ length: Number(draw.kind({ 0: 15, 1: 50, 2: 25, 3: 10 })) }, () => draw.kind(faultKinds)),
    )
    const { body, headers } = this.#bodyOf(operation, wrong)
    return [
      `${method} ${template}`,
      {
        method: wrong.has('method') ? draw.oneOf(methods) : method,
        path: this.#target(template, operation, wrong),
        headers: { ...credential, ...headers, ...(wrong.has('headers') && draw.oneOf(headerTricks)) },
        body,
      },
    ]
  }

  #target(template: string, { parameters = [] }: Operation, wrong: ReadonlySet<FaultKind>): string {
    const draw = this.#draw
    const textOfField = (name: string): string => {
      const { schema = {} } = parameters.find((one) => one.name === name) ?? {}
      const isWrong = wrong.has('parameter') && draw.happens(0.5)
      return encode(String(isWrong ? draw.oneOf(hostileValues) : this.#sample(schema, name)))
    }
    const plain = template.replaceAll(/[{:](\w+)\}?/g, (_, name: string) => textOfField(name))
    const path = wrong.has('path') ? draw.oneOf(pathTricks)(plain) : plain
    const asked = parameters.filter((one) => one.in === 'query' && (one.required || draw.happens(0.5)))
    const query = wrong.has('query')
      ? draw.oneOf(queryTricks)
      : asked.map(({ name }) => `${name}=${textOfField(name)}`).join('&')
    return `${path}${query === '' ? '' : `?${query}`}`.replace(/[^!-\u00ff]/g, encode)
  }

  #bodyOf(
    { requestBody }: Operation,
    wrong: ReadonlySet<FaultKind>,
  ): Pick<HostileRequest, 'body' | 'headers'> {
    const draw = this.#draw
    const [usualType = 'application/json', media] = Object.entries(requestBody?.content ?? {})[0] ?? []
    if (media === undefined && !wrong.has('body') && !wrong.has('value'))
      return { body: undefined, headers: {} }
    const value = media === undefined ? {} : this.#sample(media.schema, '')
    const json = JSON.stringify(wrong.has('value') ? this.#spoil(value) : value)
    const headers = { 'content-type': wrong.has('type') ? draw.oneOf(contentTypes) : usualType }
    const plain = wrong.has('body') ? rawBody(draw, json) : Buffer.from(json)
    if (!wrong.has('body') || !draw.happens(0.1)) return { body: plain, headers }
    return {
      body: gzipSync(draw.happens(0.5) ? Buffer.alloc(2 ** 24) : plain),
      headers: { ...headers, 'content-encoding': draw.oneOf(['gzip', 'deflate', 'br', 'zip']) },
    }
  }

  #sample(given: Schema, name: string, depth = 0): unknown {
    const draw = this.#draw
    const schema =
      given.$ref === undefined ? given : (this.#schemas[given.$ref.split('/').at(-1) ?? ''] ?? {})
    if (schema.const !== undefined) return schema.const
    if (schema.enum !== undefined) return draw.oneOf(schema.enum)
    const choices = schema.anyOf ?? schema.oneOf
    if (choices !== undefined && depth < deepest) return this.#sample(draw.oneOf(choices), name, depth + 1)
    const values = this.#known.find(([field]) => field.test(name))?.[1]
    if (values !== undefined) return draw.oneOf(values)
    const type = String(Array.isArray(schema.type) ? draw.oneOf(schema.type) : schema.type)
    const made: Readonly<Record<string, () => unknown>> = {
      object: () => this.#sampleFields(schema, depth),
      array: () => (depth > deepest ? [] : [this.#sample(schema.items ?? {}, name, depth + 1)]),
      boolean: () => draw.happens(0.5),
      null: () => null,
      integer: () => (schema.minimum ?? 0) + draw.whole(0, 20),
      number: () => (schema.minimum ?? 0) + draw.whole(0, 20),
    }
    return made[type]?.() ?? `text ${draw.whole(1, 1000)}`
  }

  #sampleFields({ properties = {}, required = [] }: Schema, depth: number): unknown {
    const fields = Object.entries(properties).filter(
      ([field]) => required.includes(field) || this.#draw.happens(0.5),
    )
    return Object.fromEntries(fields.map(([field, one]) => [field, this.#sample(one, field, depth + 1)]))
  }

  /** The value with another one in a place of it. */
  #spoil(value: unknown): unknown {
    const draw = this.#draw
    if (typeof value !== 'object' || value === null || draw.happens(0.1)) return draw.oneOf(hostileValues)
    const entries = Object.entries(value)
    const [key] = draw.one(entries) ?? ['x']
    if (Array.isArray(value)) return [...value, this.#spoil(value[0])]
    const rest = entries.filter(([name]) => name !== key)
    if (draw.happens(0.15)) return Object.fromEntries(rest)
    return Object.fromEntries([...rest, [key, this.#spoil((value as Record<string, unknown>)[key])]])
  }
}

/** Lone halves of a surrogate pair have no encoding. */
function encode(text: string): string {
  return encodeURIComponent(Buffer.from(text).toString()).slice(0, 6 * kb)
}

/** Of an endless stream the beginning is read. */
export function send(
  url: string,
  agent: Agent,
  { method, path, headers, body }: HostileRequest,
): Promise<Answer> {
  return new Promise((resolve) => {
    const failed = (error: Error): void => resolve({ status: 0, type: '', text: error.message })
    const { hostname, port } = new URL(url)
    const length = body === undefined ? {} : { 'content-length': body.length }
    try {
      const sent = httpRequest(
        {
          hostname,
          port,
          agent,
          method,
          path,
          headers: { ...length, ...headers } as never,
          timeout: answerMs,
        },
        (response) => {
          const { statusCode: status = 0, headers } = response
          const type = headers['content-type'] ?? ''
          const chunks: Buffer[] = []
          const done = (): void => resolve({ status, type, text: Buffer.concat(chunks).toString() })
          response.on('error', failed).on('end', done)
          response.on('data', (chunk: Buffer) => {
            chunks.push(chunk)
            if (!type.startsWith('text/event-stream')) return
            done()
            sent.destroy()
          })
        },
      )
      sent.on('error', failed).on('timeout', () => sent.destroy(new Error(`no answer in ${answerMs} ms`)))
      sent.on('upgrade', (_, socket) => socket.destroy())
      sent.end(body)
    } catch (error) {
      // What Node does not send.
      resolve({ status: -1, type: '', text: String(error) })
    }
  })
}

const codes: readonly string[] = [
  ...Object.keys(errors),
  'headers_too_large',
  'body_too_large',
  'request_timeout',
  'bad_request',
]

/**
 * The end of a connection whose request is refused may overtake the answer. And a request that cannot be parsed has no method, so its
 * refusal has a body, also of HEAD.
 */
const lostPattern = (method: string): RegExp =>
  method === 'HEAD' ? /ECONNRESET|EPIPE|hang up|Data after `Connection: close`/ : /ECONNRESET|EPIPE|hang up/

/** What is wrong with an answer. Undefined: nothing. */
export function faultOf(
  { method }: Pick<HostileRequest, 'method'>,
  { status, type, text }: Answer,
): string | undefined {
  if (status === 0) return lostPattern(method).test(text) ? undefined : `no answer: ${text}`
  if (status >= 500 && status !== 503) return `status ${status}`
  if (status < 400 || method === 'HEAD') return undefined
  if (type.startsWith('text/html')) return undefined
  if (!type.startsWith('application/json')) return `status ${status} as ${type || 'nothing'}`
  try {
    const { success, error, code, requestId } = JSON.parse(text)
    const isForm = success === false && typeof error === 'string' && typeof requestId === 'string'
    return isForm && codes.includes(code)
      ? undefined
      : `status ${status} in another form: ${text.slice(0, 100)}`
  } catch {
    return `status ${status} is not JSON`
  }
}

/** The shortest request with the same fault that is found by leaving out one part after the other. */
export async function shorten(
  request: HostileRequest,
  fault: string,
  ask: (request: HostileRequest) => Promise<Answer>,
): Promise<HostileRequest> {
  const fails = async (one: HostileRequest) => faultOf(one, await ask(one)) === fault
  let shortest = request
  const tryOne = async (change: Partial<HostileRequest>): Promise<boolean> => {
    const shorter = { ...shortest, ...change }
    if (!(await fails(shorter))) return false
    shortest = shorter
    return true
  }
  for (const name of Object.keys(request.headers)) {
    const { [name]: _, ...headers } = shortest.headers
    await tryOne({ headers })
  }
  await tryOne({ path: shortest.path.split('?', 1)[0] ?? '' })
  if (!(await tryOne({ body: undefined })))
    for (let part = 2; shortest.body !== undefined && part <= shortest.body.length && part <= 64; ) {
      const { body } = shortest
      const size = Math.ceil(body.length / part)
      let isShorter = false
      for (let at = 0; at < body.length && !isShorter; at += size)
        isShorter = await tryOne({ body: Buffer.concat([body.subarray(0, at), body.subarray(at + size)]) })
      if (!isShorter) part *= 2
    }
  return shortest
}

/** As a person repeats it, without credentials. */
export function textOfRequest({ method, path, headers, body }: HostileRequest): string {
  const shown = Object.entries(headers).map(([name, value]) =>
    /^(authorization|cookie)$/.test(name) ? `${name}: ...` : `${name}: ${value}`.slice(0, 200),
  )
  return `${method} ${path.slice(0, 300)} [${shown.join(' | ')}] ${JSON.stringify(body?.toString('latin1').slice(0, 500) ?? '')}`
}
