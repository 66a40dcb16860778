import { z } from 'zod'
import { hasDetails } from '../kernel/error-details.js'
import { codesWithProviderText, type ErrorCode, errors } from '../kernel/errors.js'
import type { Endpoint, Route } from './endpoint.js'
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

const credentials: Record<AnyEndpoint['credential'], Json[]> = {
  none: [],
  session: [{ session: [] }],
  'session-or-token': [{ session: [] }, { accessToken: [] }],
  'api-key': [{ apiKey: [] }],
  'sdk-session': [{ sdkSession: [] }],
}

/** Makes the OpenAPI 3.1 document of the routes from the schemas that parse their requests. */
export function openApiDocument(routes: readonly Route[], publicUrl: string, cookieName: string): Json {
  const paths: Record<string, Json> = {}
  for (const { endpoint } of routes) {
    const path = endpoint.path.replaceAll(pathParameter, '{$1}')
    paths[path] = { ...paths[path], [endpoint.method]: operation(endpoint) }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Tipping service', version: '1', license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: publicUrl }],
    paths,
    components: {
      securitySchemes: {
        session: { type: 'apiKey', in: 'cookie', name: cookieName },
        accessToken: { type: 'http', scheme: 'bearer' },
        apiKey: { type: 'http', scheme: 'bearer', bearerFormat: 'tk_live_...' },
        sdkSession: { type: 'http', scheme: 'bearer', bearerFormat: 'sdk_sess_<uuid>' },
      },
    },
  }
}

function operation(endpoint: AnyEndpoint): Json {
  const { inPath, others } = splitPathFields(schemaOf(endpoint.input), endpoint.path)
  const inQuery = endpoint.method === 'get' || endpoint.method === 'delete'
  const parameters = [
    ...parametersOf(inPath, 'path'),
    ...(inQuery ? parametersOf(others, 'query') : []),
    ...(endpoint.idempotent === true ? [idempotencyKey] : []),
  ]
  return {
    summary: endpoint.summary,
    security: credentials[endpoint.credential],
    'x-rate-limit': typeof endpoint.limit === 'string' ? endpoint.limit : endpoint.limit.name,
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(inQuery
      ? {}
      : { requestBody: { required: true, content: { 'application/json': { schema: others } } } }),
    responses: {
      200: { description: 'Success', content: successContent(endpoint) },
      ...errorResponses(codesOf(endpoint)),
    },
  }
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

/** Uses input mode also for answers: output mode forbids additional properties, and answers may get new fields. */
function schemaOf(schema: z.ZodType): Json {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
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
  return Object.fromEntries([...statuses].map((status) => [String(status), errorResponse(ofStatus(status))]))
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

function errorResponse(codes: readonly ErrorCode[]): Json {
  const texts = [...new Set(codes.map((code) => errors[code][1]))]
  const withDetails = codes.some(hasDetails)
  const schema = {
    type: 'object',
    required: ['success', 'error', 'code', 'requestId', ...(withDetails ? ['details'] : [])],
    properties: {
      success: { const: false },
      error: codes.some((code) => codesWithProviderText.has(code)) ? { type: 'string' } : { enum: texts },
      code: { enum: codes },
      requestId: { type: 'string' },
      ...(withDetails ? { details } : {}),
    },
  }
  return { description: texts.join(' | '), content: { 'application/json': { schema } } }
}
