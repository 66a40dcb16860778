import { z } from 'zod'
import { cleanLine, countCharacters } from '../kernel/text.js'

const mostCharacters = 64
const mostKeys = 20
const mostKeyCharacters = 40
const mostBytes = 2048

/** An integrator's own name for a payment, and what they keep with it. The payer sees the reference; only the creator gets the metadata back. */
export interface OwnReference {
  readonly reference: string | null
  readonly metadata: Readonly<Record<string, string | number | boolean>> | null
}

export const noReference: OwnReference = { reference: null, metadata: null }

/** The optional fields `reference` and `metadata` of a request. */
export const ownReferenceFields = {
  reference: z
    .string('invalid_payment_reference')
    .refine(
      (text) => text.trim() === text && cleanLine(text) === text && text !== '',
      'invalid_payment_reference',
    )
    .refine((text) => countCharacters(text) <= mostCharacters, 'invalid_payment_reference')
    .optional()
    .meta({
      description: `Your own name for the payment, such as an order number: at most ${mostCharacters} characters. It need not be unique`,
      maxLength: mostCharacters,
    }),
  metadata: z
    .record(
      z.string(),
      z.union([z.string(), z.number(), z.boolean()], 'invalid_metadata'),
      'invalid_metadata',
    )
    .refine(
      (fields) =>
        Object.keys(fields).length <= mostKeys &&
        Object.keys(fields).every((key) => key !== '' && countCharacters(key) <= mostKeyCharacters) &&
        // PostgreSQL reads no text with NUL out of JSON, and then words beside it could not be deleted.
        !Object.entries(fields)
          .flat()
          .some((text) => String(text).includes('\0')) &&
        Buffer.byteLength(JSON.stringify(fields)) <= mostBytes,
      'invalid_metadata',
    )
    .optional()
    .meta({ description: `Up to ${mostKeys} texts, numbers or booleans, ${mostBytes} bytes of JSON` }),
}

/** What a request gave, where it gave nothing what its session has. */
export function ownReferenceOf(
  {
    reference,
    metadata,
  }: { readonly reference?: string | undefined; readonly metadata?: OwnReference['metadata'] | undefined },
  fallback: OwnReference = noReference,
): OwnReference {
  return { reference: reference ?? fallback.reference, metadata: metadata ?? fallback.metadata }
}

/** As answers show them: absent where there are none, so that who does not know them sees nothing new. */
export function presentOwnReference({ reference, metadata }: OwnReference) {
  return { ...(reference !== null && { reference }), ...(metadata !== null && { metadata }) }
}

/** The same in the schema of an answer. */
export const ownReferenceOutput = {
  reference: z.string().optional().meta({ description: 'As the request gave it' }),
  metadata: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
    .optional()
    .meta({ description: 'As the request gave it' }),
}
