import { Ajv2020, type AnySchema, type ValidateFunction } from 'ajv/dist/2020.js'
import { errors } from '../../../src/kernel/errors.js'
import { withoutReferences } from './without-references.js'

interface Operation {
  readonly responses: Record<string, { content?: Record<string, { schema: object }> }>
}

export interface OpenApi {
  readonly paths: Record<string, Record<string, Operation>>
}

/** Throws a description of the fault unless the service's OpenAPI document allows this answer. */
export type AnswerCheck = (
  method: string,
  path: string,
  status: number,
  body: unknown,
  contentType?: string,
) => void

/** The schema of answers to paths and methods that are not in the document. */
const undocumented: AnySchema = {
  type: 'object',
  additionalProperties: false,
  required: ['success', 'error', 'code', 'requestId'],
  properties: {
    success: { const: false },
    error: { enum: Object.values(errors).map(([, text]) => text) },
    code: { enum: Object.keys(errors) },
    requestId: { type: 'string', minLength: 1 },
    details: { type: 'array' },
    message: { type: 'string' },
  },
}

/**
 * Checks answers against the published document, more strictly than the document does: it allows additional fields, but
 * here a field that it does not list is a fault.
 */
export function createAnswerCheck(document: OpenApi): AnswerCheck {
  const { paths } = document
  // Every format in the document also has a pattern, and the pattern is checked. test/http/openapi.test.ts checks the schemas;
  // to do so here costs each file 0.1 s.
  const ajv = new Ajv2020({
    validateFormats: false,
    validateSchema: false,
    allErrors: true,
    strictTypes: false,
  })
  const known = new Map<unknown, ValidateFunction>()

  // References are replaced in the schemas that are used only: in the whole document that costs each file 0.05 s.
  const compile = (schema: object): ValidateFunction =>
    ajv.compile(withoutAdditions(withoutReferences(document, schema)) as AnySchema)

  function validatorOf(operation: Operation, status: number, type: string): ValidateFunction | undefined {
    const response = operation.responses[String(status)]
    if (response === undefined) throw new Error(`status ${status} is not in the document`)
    const schema = (response.content?.[type] ?? response.content?.['application/json'])?.schema
    if (schema === undefined) return undefined
    const reference = (schema as { readonly $ref?: string }).$ref
    const validator = known.get(reference ?? schema) ?? compile(schema)
    known.set(reference ?? schema, validator)
    return validator
  }
  return (method, path, status, body, contentType = '') => {
    const operation = operationsOf(paths, path)?.[method.toLowerCase()]
    if (operation === undefined && status < 400) return
    const validate =
      operation === undefined
        ? ajv.compile(undocumented)
        : validatorOf(operation, status, contentType.split(';', 1)[0] ?? '')
    if (validate === undefined || validate(body)) return
    throw new Error(
      `${method} ${path} ${status}: ${ajv.errorsText(validate.errors)}\n${JSON.stringify(body)}`,
    )
  }
}

/** Finds the operations of a path: by the exact path, else by a template such as `/sdk/intents/{intentId}`. */
function operationsOf(paths: OpenApi['paths'], path: string): Record<string, Operation> | undefined {
  if (paths[path] !== undefined) return paths[path]
  const segments = path.split('/')
  const template = Object.keys(paths).find((candidate) => {
    const parts = candidate.split('/')
    return (
      parts.length === segments.length && parts.every((part, i) => /^[:{]/.test(part) || part === segments[i])
    )
  })
  return template === undefined ? undefined : paths[template]
}

function withoutAdditions(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withoutAdditions)
  if (typeof node !== 'object' || node === null) return node
  const copy = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, withoutAdditions(value)]))
  const isObject = copy['type'] === 'object' && copy['properties'] !== undefined
  return isObject && copy['additionalProperties'] === undefined
    ? { ...copy, additionalProperties: false }
    : copy
}
