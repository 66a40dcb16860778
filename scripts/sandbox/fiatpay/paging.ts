import { z } from 'zod'
import type { SandboxRequest } from '../http-route.js'
import { Refusal } from './refusal.js'

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
  const query = schema.safeParse(Object.fromEntries(url.searchParams))
  if (!query.success) throw new Refusal('invalid_params', z.prettifyError(query.error))
  return query.data
}
