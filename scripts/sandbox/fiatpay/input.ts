import { z } from 'zod'
import { parseJson, readChecked, type SandboxRequest } from '../http-route.js'
import { isRefusalCode, Refusal } from './refusal.js'

const emailMax = 254
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
  .nullish()

/**
 * Parses the body with the endpoint's schema.
 * @throws Refusal with the code that the schema names for the first fault, else `invalid_params`
 */
export function readInput<Schema extends z.ZodType>(
  schema: Schema,
  { body }: SandboxRequest,
): z.output<Schema> {
  return readChecked(schema, parseJson(body), (message) =>
    isRefusalCode(message) ? new Refusal(message) : new Refusal('invalid_params', message),
  )
}

const perPageMax = 100
const perPageDefault = 50
const pageMax = 1_000_000

const day = z.iso.datetime({ offset: true }).or(z.iso.date())
const paging = z.object({
  perPage: z.coerce.number().int().min(1).max(perPageMax).default(perPageDefault),
  page: z.coerce.number().int().min(1).max(pageMax).default(1),
})
const filters = z.object({
  from: day.optional(),
  to: day.optional(),
  status: z.string().max(20).optional(),
})

/** The rows of the requested page, and the provider's paging data. */
export function page<Row>(rows: readonly Row[], request: SandboxRequest): { data: Row[]; meta: unknown } {
  const { perPage, page } = readQuery(paging, request)
  const skipped = (page - 1) * perPage
  return {
    data: rows.slice(skipped, skipped + perPage),
    meta: { total: rows.length, skipped, perPage, page, pageCount: Math.ceil(rows.length / perPage) },
  }
}

/** The rows that match the query's `status`, `from` and `to`, newest first. */
export function newestFirst<Row extends { readonly status: string; readonly createdAt: string }>(
  rows: readonly Row[],
  request: SandboxRequest,
): Row[] {
  const { from, to, status } = readQuery(filters, request)
  return rows
    .filter(
      (row) =>
        (status === undefined || row.status === status) &&
        (from === undefined || Date.parse(row.createdAt) >= Date.parse(from)) &&
        (to === undefined || Date.parse(row.createdAt) <= Date.parse(to)),
    )
    .reverse()
}

function readQuery<Schema extends z.ZodType>(schema: Schema, { url }: SandboxRequest): z.output<Schema> {
  const refuse = (message: string) => new Refusal('invalid_params', message)
  return readChecked(schema, Object.fromEntries(url.searchParams), refuse)
}
