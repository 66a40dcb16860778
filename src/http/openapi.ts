import { z } from 'zod'
import { serviceName } from '../kernel/brand.js'
import { codesWithProviderText, type ErrorCode, errors } from '../kernel/errors.js'
import type { LimitName } from '../platform/rate-limits/rate-limits.js'
import { type Endpoint, type Route, readsQuery } from './endpoint.js'
import { hasDetails } from './errors/error-details.js'
import { idempotencyErrors } from './idempotency.js'

type AnyEndpoint = Endpoint<z.ZodType, z.ZodType>
type Json = Record<string, unknown>

const pathParameter = /:(\w+)/g

/** Every endpoint may answer these errors. They are listed with each endpoint for client generators. */
const common: readonly ErrorCode[] = ['too_many_requests', 'internal_error', 'service_unavailable']

const idempotencyKey: Json = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  schema: {
    type: 'string',
    minLength: 1,
    maxLength: 255,
    description: 'Makes a repetition within 24 hours answer what the first request was answered',
  },
}

const lastEventId: Json = {
  name: 'Last-Event-ID',
  in: 'header',
  required: false,
  schema: {
    type: 'string',
    description:
      'The `id` of the last event received, also of the `connected` one: the stream starts with the tips after it. A browser sends it by itself when it reconnects',
  },
}

const text: Json = { type: 'string' }
const whole: Json = { type: 'integer' }
/** Every answer may have these. */
const headers: Record<string, Json> = {
  'X-Request-Id': { description: 'Names the request in our logs: quote it when you ask us', schema: text },
  'X-RateLimit-Limit': { description: 'Requests in a window', schema: whole },
  'X-RateLimit-Remaining': { description: 'Requests left in this window', schema: whole },
  'X-RateLimit-Reset': { description: 'When the window ends, in seconds since 1970', schema: whole },
  'Retry-After': { description: 'Seconds to wait before the next request', schema: whole },
  'Idempotency-Hit': { description: '`true` when the answer is that of an earlier request', schema: text },
}
const everyAnswer = ['X-Request-Id', 'X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset']

/** What a document says about a call beyond its schemas. */
interface OperationTexts {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly description: string
}

export interface DocumentOptions {
  readonly publicUrl: string
  readonly cookieName: string
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  /** `key`: method and path, such as `get /auth/me`. */
  readonly describe: (key: string, limit: LimitName) => OperationTexts
}

const credentials: Record<AnyEndpoint['credential'], Json[]> = {
  none: [],
  session: [{ session: [] }],
  'session-or-token': [{ session: [] }, { accessToken: [] }],
  'api-key': [{ apiKey: [] }],
  'sdk-session': [{ sdkSession: [] }],
}

// Not zod-openapi (6.0): it does what 45 of these 300 lines do, forbids additional fields in answers, which may get new ones,
// and cannot tell the path's fields from the others in an input with a refinement.

/**
 * Makes the OpenAPI 3.1 document of the routes from the schemas that parse their requests. All schemas stand where they are
 * used; `withComponents` names them.
 */
export function openApiDocument(routes: readonly Route[], options: DocumentOptions): Json {
  const { publicUrl, cookieName, tags, describe } = options
  const paths: Record<string, Json> = {}
  const usedTags = new Set<string>()
  for (const { endpoint } of routes) {
    const path = endpoint.path.replaceAll(pathParameter, '{$1}')
    const texts = describe(`${endpoint.method} ${path}`, limitNameOf(endpoint))
    for (const tag of texts.tags) usedTags.add(tag)
    paths[path] = { ...paths[path], [endpoint.method]: operation(endpoint, texts) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: `${serviceName} API`,
      version: '1',
      description: `Supporters tip creators in crypto or naira; creators withdraw to Nigerian banks. The manual: ${publicUrl}/docs`,
      contact: { name: serviceName, url: `${publicUrl}/docs` },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: publicUrl }],
    tags: tags.filter(({ name }) => usedTags.has(name)),
    paths,
    components: {
      headers,
      securitySchemes: {
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: cookieName,
          description: 'Set by register, login and one-time code; a browser sends it by itself',
        },
        accessToken: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'at_...',
          description:
            '`Authorization: Bearer at_3vKQm0c7YdYw1yJ2hJm8Zq...`, the `auth.accessToken` of a login',
        },
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'tk_live_...',
          description: '`Authorization: Bearer tk_live_7c921cdc9c0b0fd3_9mTq2Vw0yJ2h...`, for a backend only',
        },
        sdkSession: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'sdk_sess_<uuid>',
          description:
            '`Authorization: Bearer sdk_sess_0d9e4c1b-7a52-4f3e-8c66-1b2a3c4d5e6f`, the `sessionToken` of POST /sdk/init',
        },
      },
    },
  }
}

/** Gives the schemas of bodies and answers names, so that generated clients have types with names: `WithdrawRequest`. */
export function withComponents(document: Json): Json {
  const schemas: Record<string, Json> = {}
  const nameOf = new Map<string, string>()
  const copy = structuredClone(document) as { paths: Record<string, Record<string, Json>>; components: Json }
  const move = (media: Json | undefined, name: string): void => {
    const schema = media?.['schema'] as Json | undefined
    if (media === undefined || schema === undefined || schema['type'] === 'string') return
    const json = JSON.stringify(schema)
    const known = nameOf.get(json) ?? name
    nameOf.set(json, known)
    schemas[known] = schema
    media['schema'] = { $ref: `#/components/schemas/${known}` }
  }
  for (const operation of Object.values(copy.paths).flatMap((methods) => Object.values(methods))) {
    const id = String(operation['operationId'])
    const name = `${id.charAt(0).toUpperCase()}${id.slice(1)}`
    const { requestBody, responses } = operation as unknown as Bodies
    move(requestBody?.content['application/json'], `${name}Request`)
    for (const [status, { content }] of Object.entries(responses))
      for (const media of Object.values(content))
        move(media, status === '200' ? `${name}Answer` : errorName(media, `${name}Error${status}`))
  }
  return { ...copy, components: { schemas, ...copy.components } }
}

/** An answer with a single error code is the same for every call. */
function errorName({ schema }: Json, name: string): string {
  const codes = (schema as { properties?: { code?: { enum?: string[] } } }).properties?.code?.enum ?? []
  const [only = ''] = codes
  return codes.length === 1
    ? `${only.replaceAll(/(?:^|_)(.)/g, (_, letter: string) => letter.toUpperCase())}Error`
    : name
}

interface Bodies {
  readonly requestBody?: { readonly content: Record<string, Json> }
  readonly responses: Record<string, { readonly content: Record<string, Json> }>
}

function operation(endpoint: AnyEndpoint, { operationId, tags, description }: OperationTexts): Json {
  const { inPath, others } = splitPathFields(schemaOf(endpoint.input), endpoint.path)
  const inQuery = readsQuery(endpoint)
  const parameters = [
    ...parametersOf(inPath, 'path'),
    ...(inQuery ? parametersOf(others, 'query') : []),
    ...(endpoint.idempotent === true ? [idempotencyKey] : []),
    ...(endpoint.stream === true ? [lastEventId] : []),
  ]
  const own = [...everyAnswer, ...(endpoint.idempotent === true ? ['Idempotency-Hit'] : [])]
  return {
    operationId,
    tags,
    summary: endpoint.summary,
    description,
    security: credentials[endpoint.credential],
    'x-rate-limit': limitNameOf(endpoint),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(inQuery
      ? {}
      : { requestBody: { required: true, content: { 'application/json': { schema: others } } } }),
    responses: {
      200: { description: 'Success', headers: headerRefs(own), content: successContent(endpoint) },
      ...errorResponses(codesOf(endpoint)),
    },
  }
}

function limitNameOf({ limit }: AnyEndpoint): LimitName {
  return typeof limit === 'string' ? limit : limit.name
}

function headerRefs(names: readonly string[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

/** All errors of the endpoint, including the common ones. */
function codesOf({ invalid, errors: own, idempotent, internal }: AnyEndpoint): ErrorCode[] {
  return [
    invalid,
    ...own,
    ...(idempotent === true ? idempotencyErrors : []),
    ...common,
    ...(internal === undefined ? [] : [internal]),
  ]
}

function successContent({ stream, csv, output }: AnyEndpoint): Json {
  const contentType = stream === true ? 'text/event-stream' : 'application/json'
  return {
    [contentType]: { schema: schemaOf(output) },
    ...(csv === true ? { 'text/csv': { schema: { type: 'string' } } } : {}),
  }
}

const jsonSchemas = new WeakMap<z.ZodType, Json>()

/**
 * Uses input mode also for answers: output mode forbids additional properties, and answers may get new fields. Converted once:
 * endpoints share schemas, and a test starts many apps.
 */
function schemaOf(schema: z.ZodType): Json {
  const known = jsonSchemas.get(schema)
  if (known !== undefined) return known
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  jsonSchemas.set(schema, json)
  return json
}

/** Splits an input's fields into path parameters and the others. */
function splitPathFields(input: Json, path: string): { inPath: Json; others: Json } {
  const names = new Set([...path.matchAll(pathParameter)].map(([, name]) => name))
  const pick = (picked: (name: string) => boolean): Json => ({
    ...input,
    properties: Object.fromEntries(
      Object.entries((input['properties'] ?? {}) as Json).filter(([name]) => picked(name)),
    ),
    required: ((input['required'] ?? []) as string[]).filter(picked),
  })
  return { inPath: pick((name) => names.has(name)), others: pick((name) => !names.has(name)) }
}

function parametersOf(input: Json, place: 'path' | 'query'): Json[] {
  const required = (input['required'] ?? []) as string[]
  return Object.entries((input['properties'] ?? {}) as Record<string, Json>).map(([name, schema]) => ({
    name,
    in: place,
    required: required.includes(name),
    schema,
  }))
}

function errorResponses(codes: readonly ErrorCode[]): Record<string, Json> {
  const statuses = new Set(codes.map((code) => errors[code][0]))
  const ofStatus = (status: number): ErrorCode[] =>
    [...new Set(codes)].filter((code) => errors[code][0] === status)
  return Object.fromEntries(
    [...statuses].map((status) => [String(status), errorResponse(status, ofStatus(status))]),
  )
}

/** What is wrong with the request, beside the exact `error`. */
const details: Json = {
  type: 'array',
  minItems: 1,
  description: 'What is wrong; at least one entry',
  items: {
    type: 'object',
    required: ['field', 'problem'],
    properties: {
      field: {
        type: 'string',
        description: 'The name in the body, the query or the header; `body` for one that could not be read',
      },
      problem: { type: 'string', description: 'For people, such as `must have 2 to 100 characters`' },
    },
  },
}

function errorResponse(status: number, codes: readonly ErrorCode[]): Json {
  const texts = [...new Set(codes.map((code) => errors[code][1]))]
  const withDetails = codes.some(hasDetails)
  const schema = {
    type: 'object',
    required: ['success', 'error', 'code', 'requestId', ...(codes.every(hasDetails) ? ['details'] : [])],
    properties: {
      success: { const: false },
      error: codes.some((code) => codesWithProviderText.has(code)) ? { type: 'string' } : { enum: texts },
      code: { enum: codes },
      requestId: { type: 'string' },
      ...(withDetails ? { details } : {}),
    },
  }
  return {
    description: texts.join(' | '),
    headers: headerRefs([...everyAnswer, ...(status === 429 || status === 503 ? ['Retry-After'] : [])]),
    content: { 'application/json': { schema } },
  }
}
