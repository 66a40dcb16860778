import { z } from 'zod'
import { DomainError, type ErrorCode, errors, type FieldProblem, inputError } from '../kernel/errors.js'
import { cleanLine, countCharacters, isVisible, maxMessageLength } from '../kernel/text.js'
import { generalProblem } from './errors/error-details.js'

/** Faults that one answer names. */
const mostDetails = 20

/**
 * Parses a body or query. `null` counts as absent unless the schema says `.nullish()`. Unknown fields are ignored. A
 * field's zod error is its error code. A missing required field is reported first, then wrong fields in schema order.
 * The details name every fault.
 */
export function parseInput<Schema extends z.ZodType>(
  schema: Schema,
  raw: Record<string, unknown>,
  invalid: ErrorCode,
): z.output<Schema> {
  const present = Object.values(raw).includes(null) ? withoutNulls(schema, raw) : raw
  const result = schema.safeParse(present, { reportInput: true })
  if (result.success) return result.data
  const { issues } = result.error
  const codes = issues.map(({ message }) => message)
  const first = codes.includes(invalid) ? invalid : codes.find(isErrorCode)
  throw new DomainError(first ?? invalid, undefined, detailsOf(issues))
}

function withoutNulls(schema: z.ZodType, raw: Record<string, unknown>): Record<string, unknown> {
  const present = ([name, value]: [string, unknown]) => value !== null || acceptsNull(schema, name)
  return Object.fromEntries(Object.entries(raw).filter(present))
}

function acceptsNull(schema: z.ZodType, name: string): boolean {
  const field: unknown = schema instanceof z.ZodObject ? schema.shape[name] : undefined
  return field instanceof z.ZodOptional && field.unwrap() instanceof z.ZodNullable
}

const isErrorCode = (text: string): text is ErrorCode => Object.hasOwn(errors, text)

/** One fault per field, the first. */
function detailsOf(issues: readonly z.core.$ZodIssue[]): FieldProblem[] {
  const byField = new Map<string, FieldProblem>()
  for (const issue of issues) {
    const field = issue.path.join('.') || 'body'
    if (!byField.has(field)) byField.set(field, { field, problem: problemOf(issue) })
  }
  return [...byField.values()].slice(0, mostDetails)
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a finite number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
}

/** A schema's own words (`params.problem`), else what zod says of it, else the general words of its error code. */
function problemOf(issue: z.core.$ZodIssue): string {
  if (issue.input === undefined && issue.path.length > 0) return 'is missing'
  if (issue.code === 'custom' && typeof issue.params?.['problem'] === 'string') return issue.params['problem']
  if (issue.code === 'invalid_type') return `must be ${typeNames[issue.expected] ?? 'of another type'}`
  if (issue.code === 'invalid_value') return `must be one of ${issue.values.join(', ')}`
  if (issue.code === 'too_small') return lowerLimit(issue)
  if (issue.code === 'too_big') return `must ${amountOf('at most', issue.maximum, issue.origin)}`
  const general = isErrorCode(issue.message) ? generalProblem(issue.message) : undefined
  return general ?? 'does not have the required form'
}

function lowerLimit({ origin, minimum, inclusive }: z.core.$ZodIssueTooSmall): string {
  if (origin === 'string' && minimum === 1) return 'is missing'
  return `must ${amountOf(inclusive === false ? 'more than' : 'at least', minimum, origin)}`
}

function amountOf(relation: string, limit: number | bigint, origin: string): string {
  if (origin === 'string') return `have ${relation} ${limit} characters`
  return origin === 'array' ? `have ${relation} ${limit} entries` : `be ${relation} ${limit}`
}

/** A required text, not trimmed. Absent, or showing nothing, is `missing`, another type is `wrong`. */
export function requiredText(missing: ErrorCode, wrong: ErrorCode = missing) {
  return z
    .string({ error: ({ input }) => (input === undefined ? missing : wrong) })
    .refine(isVisible, { error: missing, params: { problem: 'is missing' } })
    .meta({ minLength: 1 })
}

/** A required text that `accepts` must accept, otherwise `wrong`. */
export function checkedText(missing: ErrorCode, wrong: ErrorCode, accepts: (text: string) => boolean) {
  return requiredText(missing, wrong).refine((text) => accepts(text) || !isVisible(text), wrong)
}

/** A required secret. Blanks are part of it, so only an empty one is `missing`. */
export function requiredSecret(missing: ErrorCode) {
  return z.string(missing).min(1, missing)
}

/**
 * Text with a length in characters. Uses a refinement because zod counts UTF-16 units; `meta` puts the limits into the
 * OpenAPI document.
 */
export function textOf({ least, most }: { least: number; most: number }, wrong?: ErrorCode) {
  return z
    .string(wrong)
    .refine((text) => countCharacters(text) >= least && countCharacters(text) <= most, {
      ...(wrong === undefined ? {} : { error: wrong }),
      params: { problem: `must have ${least} to ${most} characters` },
    })
    .meta({ minLength: least, maxLength: most })
}

/** A field of the answers to requests that may contain a supporter's message. */
export const truncated = z
  .literal(true)
  .optional()
  .meta({ description: `The message was cut to ${maxMessageLength} characters` })

/** Throws `invalid` for a query whose percent-encoded bytes are not UTF-8. Parsing would replace them silently. */
export function checkQueryText(querystring: string, invalid: ErrorCode): void {
  for (const part of querystring.split('&')) {
    const runs = part.match(/(?:%[0-9a-f]{2})+/gi) ?? []
    if (runs.every(isUtf8)) continue
    const [name = ''] = part.split('=')
    throw inputError(invalid, isUtf8(name) ? decodeURIComponent(name) : 'query', 'must be UTF-8')
  }
}

function isUtf8(encoded: string): boolean {
  try {
    decodeURIComponent(encoded)
    return true
  } catch {
    return false
  }
}

/** A line of text, cleaned, of 1 to `most` characters. */
export function shownLine(code: ErrorCode, most: number) {
  return z
    .string(code)
    .transform((text) => cleanLine(text))
    .refine((text) => text !== '' && countCharacters(text) <= most, {
      error: code,
      params: { problem: `must have 1 to ${most} characters` },
    })
}
