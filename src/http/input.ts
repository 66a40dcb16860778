import { z } from 'zod'
import { DomainError, type ErrorCode, errors } from '../kernel/errors.js'

/**
 * Parses a body or query. `null` counts as absent unless the schema says `.nullish()`. Unknown fields are ignored. A
 * field's zod error is its error code. A missing required field is reported first, then wrong fields in schema order.
 */
export function parseInput<Schema extends z.ZodType>(
  schema: Schema,
  raw: Record<string, unknown>,
  invalid: ErrorCode,
): z.output<Schema> {
  const present = Object.fromEntries(
    Object.entries(raw).filter(([name, value]) => value !== null || acceptsNull(schema, name)),
  )
  const result = schema.safeParse(present)
  if (result.success) return result.data
  const codes = result.error.issues.map(({ message }) => message)
  const first = codes.includes(invalid) ? invalid : codes.find((code): code is ErrorCode => code in errors)
  throw new DomainError(first ?? invalid)
}

function acceptsNull(schema: z.ZodType, name: string): boolean {
  const field: unknown = schema instanceof z.ZodObject ? schema.shape[name] : undefined
  return field instanceof z.ZodOptional && field.unwrap() instanceof z.ZodNullable
}

/** A required text, not trimmed. Absent or empty is `missing`, another type is `wrong`. */
export function requiredText(missing: ErrorCode, wrong: ErrorCode = missing) {
  return z.string({ error: ({ input }) => (input === undefined ? missing : wrong) }).min(1, missing)
}

/** A required text that `accepts` must accept, otherwise `wrong`. */
export function checkedText(missing: ErrorCode, wrong: ErrorCode, accepts: (text: string) => boolean) {
  return requiredText(missing, wrong).refine((text) => text === '' || accepts(text), wrong)
}
