import { z } from 'zod'
import { codesWithProviderText, type ErrorCode, errors } from '../../kernel/errors.js'
import type { LimitName } from '../../platform/rate-limits/rate-limits.js'
import { type Endpoint, readsQuery } from '../endpoint.js'
import { hasDetails, isForWallets, mayHaveDetails } from '../errors/error-details.js'
import { idempotencyErrors } from '../idempotency.js'
import { limitHeaders } from '../limits/rate-limits.js'
import { pictureTypes } from '../picture-body.js'

type AnyEndpoint = Endpoint<z.ZodType, z.ZodType>
export type Json = Record<string, unknown>

export const pathParameter = /:(\w+)/g

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
      'The `id` of the last event received, also of the `connected` one: the stream starts with what came after it. A browser sends it by itself when it reconnects',
  },
}

const everyAnswer = ['X-Request-Id', ...limitHeaders]

/** What a document says about a call beyond its schemas. */
export interface OperationTexts {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly description: string
}

const credentials: Record<AnyEndpoint['credential'], Json[]> = {
  none: [],
  session: [{ session: [] }],
  'session-or-token': [{ session: [] }, { accessToken: [] }],
  'session-or-key': [{ session: [] }, { apiKey: [] }],
  'api-key': [{ apiKey: [] }],
  'sdk-session': [{ sdkSession: [] }],
}

/** One call of the document. */
export function operation(endpoint: AnyEndpoint, { operationId, tags, description }: OperationTexts): Json {
  const { inPath, inQuery, inBody } = splitFields(schemaOf(endpoint.input), endpoint)
  const parameters = [
    ...parametersOf(inPath, 'path'),
    ...parametersOf(inQuery, 'query'),
    ...(endpoint.idempotent === true ? [idempotencyKey] : []),
    ...(endpoint.stream === true ? [lastEventId] : []),
  ]
  const own = [
    ...everyAnswer,
    ...(endpoint.idempotent === true ? ['Idempotency-Hit'] : []),
    ...(endpoint.method === 'get' && endpoint.credential === 'none' && endpoint.stream !== true
      ? ['ETag']
      : []),
  ]
  return {
    operationId,
    tags,
    summary: endpoint.summary,
    description,
    security: credentials[endpoint.credential],
    'x-rate-limit': limitNameOf(endpoint),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(readsQuery(endpoint)
      ? {}
      : { requestBody: { required: true, content: requestContent(endpoint, inBody) } }),
    responses: {
      200: { description: 'Success', headers: headerRefs(own), content: successContent(endpoint) },
      ...errorResponses(codesOf(endpoint), isForWallets(endpoint.path)),
    },
  }
}

function requestContent({ picture }: AnyEndpoint, body: Json): Json {
  if (picture === undefined) return { 'application/json': { schema: body } }
  const bytes = { schema: { type: 'string', format: 'binary', maxLength: picture } }
  return Object.fromEntries(pictureTypes.map((type) => [type, bytes]))
}

export function limitNameOf({ limit }: AnyEndpoint): LimitName {
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

/** Generated clients take a field with a default for a required one. */
const withoutDefault = ({ jsonSchema }: { readonly jsonSchema: z.core.JSONSchema.BaseSchema }): void => {
  delete jsonSchema.default
}

const jsonSchemas = new WeakMap<z.ZodType, Json>()

/**
 * Uses input mode also for answers: output mode forbids additional properties, and answers may get new fields. Converted once:
 * endpoints share schemas, and a test starts many apps.
 */
function schemaOf(schema: z.ZodType): Json {
  const known = jsonSchemas.get(schema)
  if (known !== undefined) return known
  const { $schema: _, ...json } = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override: withoutDefault,
  })
  jsonSchemas.set(schema, json)
  return json
}

/** Splits an input's fields by where they stand. */
function splitFields(input: Json, endpoint: AnyEndpoint): Record<'inPath' | 'inQuery' | 'inBody', Json> {
  const path = new Set([...endpoint.path.matchAll(pathParameter)].map(([, name]) => name))
  const isInQuery = (name: string): boolean =>
    !path.has(name) && (readsQuery(endpoint) || endpoint.inQuery?.includes(name) === true)
  const pick = (picked: (name: string) => boolean): Json => ({
    ...input,
    properties: Object.fromEntries(
      Object.entries((input['properties'] ?? {}) as Json).filter(([name]) => picked(name)),
    ),
    required: ((input['required'] ?? []) as string[]).filter(picked),
  })
  return {
    inPath: pick((name) => path.has(name)),
    inQuery: pick(isInQuery),
    inBody: pick((name) => !path.has(name) && !isInQuery(name)),
  }
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

function errorResponses(codes: readonly ErrorCode[], forWallets: boolean): Record<string, Json> {
  const statuses = new Set(codes.map((code) => errors[code][0]))
  const ofStatus = (status: number): ErrorCode[] =>
    [...new Set(codes)].filter((code) => errors[code][0] === status)
  return Object.fromEntries(
    [...statuses].map((status) => [String(status), errorResponse(status, ofStatus(status), forWallets)]),
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

function errorResponse(status: number, codes: readonly ErrorCode[], forWallets: boolean): Json {
  const texts = [...new Set(codes.map((code) => errors[code][1]))]
  const withDetails = codes.some(mayHaveDetails)
  const schema = {
    type: 'object',
    required: [
      'success',
      'error',
      'code',
      'requestId',
      ...(codes.every(hasDetails) ? ['details'] : []),
      ...(forWallets ? ['message'] : []),
    ],
    properties: {
      success: { const: false },
      error: codes.some((code) => codesWithProviderText.has(code)) ? { type: 'string' } : { enum: texts },
      code: { enum: codes },
      requestId: { type: 'string' },
      ...(withDetails ? { details } : {}),
      ...(forWallets ? { message: { type: 'string', description: 'What a wallet shows' } } : {}),
    },
  }
  return {
    description: texts.join(' | '),
    headers: headerRefs([...everyAnswer, ...(status === 429 || status === 503 ? ['Retry-After'] : [])]),
    content: { 'application/json': { schema } },
  }
}
