import { z } from 'zod'
import { DomainError, type ErrorCode, errors } from '../kernel/errors.js'

/**
 * Parses a body or query. `null` counts as absent except where the schema gives it a meaning (`.nullish()`),
 * unknown fields are ignored. A field's zod error is its error code; missing fields come before wrong ones, and
 * wrong ones answer in the order of the schema.
 */
export function parseInput<Schema extends z.ZodType>(
  schema: Schema,
  raw: Record<string, unknown>,
  invalid: ErrorCode,
): z.output<Schema> {
  const present = Object.fromEntries(
    Object.entries(raw).filter(([name, value]) => value !== null || meansSomething(schema, name)),
  )
  const result = schema.safeParse(present)
  if (result.success) return result.data
  const codes = result.error.issues.map(({ message }) => message)
  const first = codes.includes(invalid) ? invalid : codes.find((code): code is ErrorCode => code in errors)
  throw new DomainError(first ?? invalid)
}

function meansSomething(schema: z.ZodType, name: string): boolean {
  const field: unknown = schema instanceof z.ZodObject ? schema.shape[name] : undefined
  return field instanceof z.ZodOptional && field.unwrap() instanceof z.ZodNullable
}

/** A required text: absent or empty answers `missing`, another type `wrong`. Taken as it is, never trimmed. */
export function requiredText(missing: ErrorCode, wrong: ErrorCode = missing) {
  return z.string({ error: ({ input }) => (input === undefined ? missing : wrong) }).min(1, missing)
}

/** A required text that `accepts` must accept; otherwise `wrong`. */
export function checkedText(missing: ErrorCode, wrong: ErrorCode, accepts: (text: string) => boolean) {
  return requiredText(missing, wrong).refine((text) => text === '' || accepts(text), wrong)
}
