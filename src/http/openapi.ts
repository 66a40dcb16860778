import { z } from 'zod'
import { type ErrorCode, errors } from '../kernel/errors.js'
import type { Endpoint, Route } from './endpoint.js'
import { idempotencyErrors } from './idempotency.js'

type AnyEndpoint = Endpoint<z.ZodType, z.ZodType>
type Json = Record<string, unknown>

/** Any endpoint may answer these; they are listed with each so that a client generator knows. */
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
}

/** The OpenAPI 3.1 document of the mounted routes, made from the schemas that parse and describe them. */
export function openApiDocument(routes: readonly Route[], publicUrl: string, cookieName: string): Json {
  const paths: Record<string, Json> = {}
  for (const { endpoint } of routes)
    paths[endpoint.path] = { ...paths[endpoint.path], [endpoint.method]: operation(endpoint) }
  return {
    openapi: '3.1.0',
    info: { title: 'Tipping service', version: '1', license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: publicUrl }],
    paths,
    components: {
      securitySchemes: {
        session: { type: 'apiKey', in: 'cookie', name: cookieName },
        accessToken: { type: 'http', scheme: 'bearer' },
      },
    },
  }
}

function operation(endpoint: AnyEndpoint): Json {
  const inQuery = endpoint.method === 'get' || endpoint.method === 'delete'
  const input = schemaOf(endpoint.input)
  const contentType = endpoint.stream === true ? 'text/event-stream' : 'application/json'
  return {
    summary: endpoint.summary,
    security: credentials[endpoint.credential],
    'x-rate-limit': typeof endpoint.limit === 'string' ? endpoint.limit : endpoint.limit.name,
    ...(endpoint.idempotent === true ? { parameters: [idempotencyKey] } : {}),
    ...(inQuery
      ? { parameters: parametersOf(input) }
      : { requestBody: { required: true, content: { 'application/json': { schema: input } } } }),
    responses: {
      200: { description: 'Success', content: { [contentType]: { schema: schemaOf(endpoint.output) } } },
      ...errorResponses(codesOf(endpoint)),
    },
  }
}

function codesOf({ invalid, errors: own, idempotent }: AnyEndpoint): ErrorCode[] {
  return [invalid, ...own, ...(idempotent === true ? idempotencyErrors : []), ...common]
}

/** Input mode on both sides: output mode would close objects to the additions the contract allows. */
function schemaOf(schema: z.ZodType): Json {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  return json
}

function parametersOf(input: Json): Json[] {
  const required = (input['required'] ?? []) as string[]
  return Object.entries((input['properties'] ?? {}) as Record<string, Json>).map(([name, schema]) => ({
    name,
    in: 'query',
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

function errorResponse(codes: readonly ErrorCode[]): Json {
  const texts = codes.map((code) => errors[code][1])
  const schema = {
    type: 'object',
    required: ['success', 'error', 'code', 'requestId'],
    properties: {
      success: { const: false },
      error: { enum: texts },
      code: { enum: codes },
      requestId: { type: 'string' },
    },
  }
  return { description: texts.join(' | '), content: { 'application/json': { schema } } }
}
