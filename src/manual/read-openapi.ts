/** The parts of our OpenAPI 3.1 document (http/openapi/) that the manual reads. */
export interface OpenApi {
  readonly servers: readonly { readonly url: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

interface Operation {
  readonly summary: string
  readonly security: readonly Readonly<Record<string, unknown>>[]
  readonly 'x-rate-limit': string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Contents }
  readonly responses: Readonly<Record<string, { readonly content: Contents }>>
}

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required: boolean
  readonly schema: Schema
}

type Contents = Readonly<Record<string, { readonly schema: Schema }>>

/** JSON Schema, as far as zod writes it. */
export interface Schema {
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly description?: string
  readonly default?: unknown
  readonly format?: string
  readonly pattern?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly minLength?: number
  readonly maxLength?: number
  readonly maximum?: number
}

/** One call of the API. */
export interface Call {
  readonly method: string
  /** With `{name}` for path parameters. */
  readonly path: string
  /** Such as `post /auth/login`: the key of notes and samples. */
  readonly key: string
  /** The anchor in the manual. */
  readonly id: string
  readonly operation: Operation
  readonly body: Schema | undefined
  readonly answer: { readonly type: string; readonly schema: Schema }
}

/** Every call, in the document's order. */
export function callsOf({ paths }: OpenApi): Call[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => callOf(method, path, operation)),
  )
}

function callOf(method: string, path: string, operation: Operation): Call {
  const [type = '', answer] = Object.entries(operation.responses['200']?.content ?? {})[0] ?? []
  return {
    method: method.toUpperCase(),
    path,
    key: `${method} ${path}`,
    id: `${method}${path.replaceAll(/[^A-Za-z0-9]+/g, '-').replace(/-$/, '')}`,
    operation,
    body: operation.requestBody?.content['application/json']?.schema,
    answer: { type, schema: answer?.schema ?? {} },
  }
}

/** The error codes of a call, as the document lists them. */
export function codesOf({ operation }: Call): string[] {
  return Object.entries(operation.responses)
    .filter(([status]) => status !== '200')
    .flatMap(([, { content }]) => {
      const codes = content['application/json']?.schema.properties?.['code']?.enum ?? []
      return codes.map(String)
    })
}
