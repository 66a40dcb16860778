import { z } from 'zod'
import { RequestError, type SandboxRequest } from '../http-route.js'
import { isRefusalCode, Refusal } from './refusal.js'

const bodyBytesMax = 64 * 1024
const emailMax = 254
const metadataMax = 10_000
const referenceMax = 100

// The error texts of these schemas are refusal codes.

/** An amount in kobo, as a number or as digits. The caller sets the upper limit. */
export const kobo = z
  .union(
    [
      z.int('invalid_amount'),
      z
        .string()
        .regex(/^\d{1,15}$/, 'invalid_amount')
        .transform(Number),
    ],
    {
      error: 'invalid_amount',
    },
  )
  .pipe(z.int('invalid_amount').positive('invalid_amount'))

/** The provider refuses `.local`, which is not a top-level domain. */
export const email = z
  .email('invalid_email_address')
  .max(emailMax, 'invalid_email_address')
  .refine((text) => !text.toLowerCase().endsWith('.local'), 'invalid_email_address')

export const transactionReference = z
  .string('invalid_reference')
  .max(referenceMax, 'invalid_reference')
  .regex(/^[A-Za-z0-9.=-]+$/, 'invalid_reference')

/** The caller's own data, returned unchanged. */
export const metadata = z
  .union([z.string(), z.record(z.string(), z.unknown())], { error: 'invalid_params' })
  .refine((value) => isShort(value), 'invalid_params')
  .nullish()

function isShort(value: unknown): boolean {
  try {
    return JSON.stringify(value).length <= metadataMax
  } catch {
    // Nested too deeply for the stack.
    return false
  }
}

/**
 * Parses the body with the endpoint's schema.
 * @throws Refusal with the code that the schema names for the first fault, else `invalid_params`
 */
export function readInput<Schema extends z.ZodType>(
  schema: Schema,
  { body }: SandboxRequest,
): z.output<Schema> {
  if (body.length > bodyBytesMax) throw new RequestError(413, `body larger than ${bodyBytesMax} bytes`)
  const checked = schema.safeParse(parsed(body))
  if (checked.success) return checked.data
  const { message = '' } = checked.error.issues[0] ?? {}
  throw isRefusalCode(message) ? new Refusal(message) : new Refusal('invalid_params', message)
}

/** The parsed body, or undefined when it is not JSON. */
export function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}
