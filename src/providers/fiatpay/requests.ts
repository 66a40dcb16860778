import { z } from 'zod'
import { ProviderError, undocumented } from '../../kernel/provider-error.js'
import { cleanLine } from '../../kernel/text.js'
import { requestAnyStatus } from '../../platform/http-client.js'

export interface FiatpayAccess {
  readonly url: string
  readonly secretKey: string
  /** Of one request. */
  readonly timeoutMs: number
}

export interface FiatpayReply {
  readonly status: number
  /** Undefined when it is not JSON. */
  readonly body: unknown
}

/** The method is GET without a body, else POST, unless given. */
export type FiatpayRequest = (
  path: string,
  body?: unknown,
  method?: 'GET' | 'POST' | 'PUT',
) => Promise<FiatpayReply>

export type FiatpayQuery = <Schema extends z.ZodType>(
  path: string,
  answer: Schema,
  body?: unknown,
  method?: 'POST' | 'PUT',
) => Promise<z.output<Schema>>

const maxBytes = 256 * 1024
/** Rows per page of a list, the provider's maximum. */
const perPage = 100
/** More pages than any list fills. Ends the loop if the provider repeats a page. */
const maxPages = 1000
const refusalLength = 200
/** Statuses that are about the request. Paystack's other 4xx are about our account or its load. */
const requestStatuses = new Set([400, 404, 422])

/**
 * Sends requests to Paystack's API. Returns an answer of any status: what a
 * refusal means depends on the request. Throws ProviderError when there is no complete answer within `timeoutMs`.
 */
export function createFiatpayRequest({ url, secretKey, timeoutMs }: FiatpayAccess): FiatpayRequest {
  const headers = { authorization: `Bearer ${secretKey}` }
  return (path, body, method = body === undefined ? 'GET' : 'POST') =>
    requestAnyStatus(`${url}${path}`, { method, headers, body, timeoutMs, maxBytes })
}

/**
 * As `createFiatpayRequest`, and reads the answer. Throws ProviderError, `rejected` with the provider's text when it
 * refuses the request. Not for requests that send money, where only a documented code is a refusal.
 */
export function createFiatpayQuery(access: FiatpayAccess): FiatpayQuery {
  const request = createFiatpayRequest(access)
  return async (path, answer, body, method) => {
    const reply = await request(path, body, method)
    if (reply.status >= 400) throw queryFailure(reply)
    return parse(answer, reply.body)
  }
}

/** Throws ProviderError when the value is not as the provider documents it. */
export function parse<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  throw undocumented('fiatpay did not answer as documented', parsed.error)
}

const namedRow = z.object({ id: z.int() })
const anyPage = answer(z.array(z.unknown())).extend({
  // Paystack's data about the pages of a list.
  meta: z.object({ pageCount: z.int() }).optional().catch(undefined),
})

/**
 * All rows of a list that the provider created between two times, newest first, page by page. Throws ProviderError. A row that `read`
 * refuses with one hides no other: it is left out, and the list ends with an error that names the first one.
 */
export async function* readPages<Row>(
  query: FiatpayQuery,
  path: string,
  read: (row: unknown) => Row,
  { from, to, status }: { readonly from: Date; readonly to?: Date; readonly status?: string },
): AsyncGenerator<Row[]> {
  const unread: string[] = []
  const readable = (row: unknown): Row[] => {
    try {
      return [read(row)]
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error
      unread.push(`${namedRow.safeParse(row).data?.id ?? 'without an id'}: ${error.message}`)
      return []
    }
  }
  for (let page = 1; page <= maxPages; page++) {
    const params = new URLSearchParams({
      from: from.toISOString(),
      ...(to && { to: to.toISOString() }),
      ...(status !== undefined && { status }),
      perPage: String(perPage),
      page: String(page),
    })
    const { data, meta } = await query(`${path}?${params}`, anyPage)
    yield data.flatMap(readable)
    // A provider that ignores perPage has shorter pages.
    const isLast = data.length < perPage && page >= (meta?.pageCount ?? 0)
    if (data.length > 0 && !isLast) continue
    if (unread.length === 0) return
    const more = unread.length > 1 ? ` (and ${unread.length - 1} more)` : ''
    throw new ProviderError('ambiguous', `a row of ${path} cannot be read, ${unread[0]}${more}`)
  }
  // What is not read may be what the caller looks for.
  throw new ProviderError('ambiguous', `fiatpay lists ${path} without an end`)
}

/** A handler for `catch`: undefined for a 404, which means that the provider has no such record. */
export function undefinedIfNotFound(error: unknown): undefined {
  if (error instanceof ProviderError && error.kind === 'rejected' && error.code === 404) return undefined
  throw error
}

/** A refusal of our key or because of the provider's load is `unavailable`: the request itself may be fine. */
function queryFailure({ status, body }: FiatpayReply): ProviderError {
  if (status >= 500 && status !== 503)
    return new ProviderError('ambiguous', `fiatpay answered ${status}`, status)
  const text = refusal.safeParse(body).data?.message
  if (!requestStatuses.has(status) || text === undefined)
    return new ProviderError('unavailable', `fiatpay answered ${status}`, status)
  return new ProviderError('rejected', cleanLine(text, refusalLength), status)
}

/** Paystack's envelope of an answer, with the fields we read. `status: true` only means that the call worked. */
export function answer<Data extends z.ZodType>(data: Data) {
  return z.object({ status: z.literal(true), data })
}

/** A whole number of kobo, as a number or as digits: the provider writes both. */
export const wireKobo = z
  .union([z.int(), z.string().regex(/^-?\d{1,15}$/)])
  .transform((value) => BigInt(value))

/** Paystack's envelope of a refusal. Not every refusal has a code. */
export const refusal = z.object({
  status: z.literal(false),
  message: z.string().min(1),
  code: z.string().optional(),
})
