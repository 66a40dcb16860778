import type { AnySchema } from 'ajv/dist/2020.js'
import type { Request } from './client.js'
import { withoutReferences } from './without-references.js'

/** The parts of the service's OpenAPI document that tests read. */
export interface Document {
  readonly openapi: string
  readonly info: { readonly title: string; readonly version: string }
  readonly servers: readonly { readonly url: string }[]
  readonly paths: Record<string, Record<string, Operation>>
  readonly tags: readonly { readonly name: string }[]
  readonly components: {
    readonly securitySchemes: Record<string, unknown>
    readonly schemas: Record<string, unknown>
  }
}
export interface Operation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly security: readonly Record<string, readonly string[]>[]
  readonly parameters?: readonly Record<string, unknown>[]
  readonly requestBody?: { readonly content: Record<string, { readonly schema: AnySchema }> }
  readonly responses: Record<string, Reply>
}
interface Reply {
  readonly description: string
  readonly headers: Record<string, unknown>
  readonly content: Record<string, { readonly schema: AnySchema }>
}

/** With the schemas where they are used, instead of references to them. */
export async function readDocument(request: Request): Promise<Document> {
  const { body } = await request<Document>('GET', '/openapi.json')
  return withoutReferences(body, body)
}

/** Every documented operation. */
export async function readOperations(
  request: Request,
): Promise<{ path: string; method: string; operation: Operation }[]> {
  const { paths } = await readDocument(request)
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )
}
