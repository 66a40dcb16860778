import { z } from 'zod'
import { RequestError, type SandboxRequest } from '../exchange.js'
import { isRefusalCode, Refusal } from './refusal.js'

const bodyBytesMax = 64 * 1024
const emailMax = 254
const metadataMax = 10_000
const referenceMax = 100

// The texts of these schemas are codes of refusals.

/** An amount in kobo, a number or its digits; callers bound it from above. */
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

/** The provider refuses `.local`, which is no top-level domain but a name of the local network. */
export const email = z
  .email('invalid_email_address')
  .max(emailMax, 'invalid_email_address')
  .refine((text) => !text.toLowerCase().endsWith('.local'), 'invalid_email_address')

export const transactionReference = z
  .string('invalid_reference')
  .max(referenceMax, 'invalid_reference')
  .regex(/^[A-Za-z0-9.=-]+$/, 'invalid_reference')

/** Free data of the caller, given back as it came. */
export const metadata = z
  .union([z.string(), z.record(z.string(), z.unknown())], { error: 'invalid_params' })
  .refine((value) => isShort(value), 'invalid_params')
  .nullish()

function isShort(value: unknown): boolean {
  try {
    return JSON.stringify(value).length <= metadataMax
  } catch {
    // Nested more deeply than the stack is deep.
    return false
  }
}

/**
 * The body as the endpoint's schema wants it.
 * @throws Refusal by the code that the schema names for the first fault, else `invalid_params`
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

/** The body, or undefined when it is no JSON. */
export function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}
