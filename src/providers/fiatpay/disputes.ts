import { z } from 'zod'
import { ProviderError } from '../../kernel/provider-error.js'
import { cleanLine } from '../../kernel/text.js'
import { putFile } from '../../platform/http-client.js'
import type { Dispute, DisputeAnswer, DisputeFile, DisputeState, Disputes } from '../../ports/disputes.js'
import {
  answer,
  createFiatpayQuery,
  type FiatpayAccess,
  type FiatpayQuery,
  parse,
  readPages,
  undefinedIfNotFound,
  wireKobo,
} from './requests.js'

const categoryLength = 50

const moment = z.iso.datetime({ offset: true })
const amount = wireKobo.pipe(z.bigint().nonnegative())

/** Paystack's dispute. Lists and webhooks name its times differently, and old ones lack an amount of their own. */
const dispute = z.object({
  id: z.int().positive(),
  refund_amount: amount.nullish(),
  currency: z.string().nullish(),
  status: z.string(),
  resolution: z.string().nullish(),
  category: z.string().nullish(),
  transaction: z.object({
    id: z.int().positive(),
    reference: z.string().min(1),
    amount: wireKobo.pipe(z.bigint().positive()),
    currency: z.string().nullish(),
  }),
  dueAt: moment.nullish(),
  resolvedAt: moment.nullish(),
  createdAt: moment.nullish(),
  created_at: moment.nullish(),
})

const disputeAnswer = answer(dispute)
const evidenceAnswer = answer(z.object({ id: z.int().positive() }))
const uploadAnswer = answer(z.object({ signedUrl: z.url(), fileName: z.string().min(1).max(500) }))

/**
 * Disputes in Paystack's wire format: `GET /dispute`, `GET /dispute/:id`, `POST /dispute/:id/evidence`,
 * `GET /dispute/:id/upload_url` and `PUT /dispute/:id/resolve`. Amounts are whole kobo.
 */
export function createFiatpayDisputes(access: FiatpayAccess): Disputes {
  const query = createFiatpayQuery(access)
  return {
    async *list(from, to) {
      yield* readPages(query, '/dispute', (row) => disputeOf(parse(dispute, row)), { from, to })
    },
    async find(id) {
      const found = await query(pathOf(id), disputeAnswer).catch(undefinedIfNotFound)
      return found && sameDispute(id, disputeOf(found.data))
    },
    async addEvidence(id, { email, name, phone, service }) {
      const body = {
        customer_email: email,
        customer_name: name,
        customer_phone: phone,
        service_details: service,
      }
      const { data } = await query(`${pathOf(id)}/evidence`, evidenceAnswer, body)
      return String(data.id)
    },
    async answer(id, given) {
      const fileName = await upload(query, access, id, given.file).catch(nothingAnswered)
      const { data } = await query(`${pathOf(id)}/resolve`, disputeAnswer, wireAnswer(given, fileName), 'PUT')
      return sameDispute(id, disputeOf(data))
    },
  }
}

/** Stores a file where the provider says. Returns its name there. */
async function upload(
  query: FiatpayQuery,
  { url, timeoutMs }: FiatpayAccess,
  id: string,
  { name, type, bytes }: DisputeFile,
): Promise<string> {
  const params = new URLSearchParams({ upload_filename: name })
  const { data } = await query(`${pathOf(id)}/upload_url?${params}`, uploadAnswer)
  // The file may hold a payer's data. It leaves only encrypted, or to the provider itself.
  if (!isSafe(data.signedUrl, url))
    throw new ProviderError('ambiguous', 'fiatpay named an address without TLS for a file')
  await putFile(data.signedUrl, { type, bytes, timeoutMs })
  return data.fileName
}

/** A handler for `catch`: without its file an answer is not sent, so it may be repeated. */
function nothingAnswered(error: unknown): never {
  if (error instanceof ProviderError && error.kind === 'ambiguous')
    throw new ProviderError('unavailable', `${error.message}; the dispute is not answered`, error.code)
  throw error
}

function pathOf(id: string): string {
  return `/dispute/${encodeURIComponent(id)}`
}

function isSafe(url: string, providerUrl: string): boolean {
  const { protocol, origin } = new URL(url)
  return protocol === 'https:' || origin === new URL(providerUrl).origin
}

function wireAnswer({ answer, message, kobo, evidence }: DisputeAnswer, fileName: string) {
  return {
    resolution: answer === 'accept' ? 'merchant-accepted' : 'declined',
    message,
    refund_amount: Number(kobo),
    uploaded_filename: fileName,
    ...(evidence !== undefined && { evidence: Number(evidence) }),
  }
}

function sameDispute(id: string, found: Dispute): Dispute {
  if (found.id === id) return found
  throw new ProviderError('ambiguous', 'fiatpay answered about another dispute')
}

/** Throws ProviderError for a dispute whose money or time cannot be understood. */
function disputeOf(row: z.output<typeof dispute>): Dispute {
  const { transaction, dueAt, resolvedAt, createdAt = row.created_at } = row
  if ((row.currency ?? transaction.currency ?? 'NGN') !== 'NGN')
    throw new ProviderError('ambiguous', 'fiatpay names another currency for a dispute')
  if (!createdAt) throw new ProviderError('ambiguous', 'fiatpay names no time of a dispute')
  // A declined dispute may show 0, though the payer wants the whole payment.
  const kobo = row.refund_amount || transaction.amount
  if (kobo > transaction.amount)
    throw new ProviderError('ambiguous', 'fiatpay shows a dispute about more than was paid')
  return {
    id: String(row.id),
    transaction: String(transaction.id),
    reference: transaction.reference,
    kobo,
    state: stateOf(row.status, row.resolution),
    autoAccepted: row.status === 'resolved' && row.resolution === 'auto-accepted',
    category: row.category ? cleanLine(row.category, categoryLength) : null,
    createdAt: new Date(createdAt),
    dueAt: dueAt ? new Date(dueAt) : null,
    resolvedAt: resolvedAt ? new Date(resolvedAt) : null,
  }
}

function stateOf(status: string, resolution: string | null | undefined): DisputeState {
  if (status === 'awaiting-merchant-feedback' || status === 'pending') return 'open'
  if (status === 'awaiting-bank-feedback') return 'answered'
  if (status !== 'resolved') return 'unclear'
  if (resolution === 'declined') return 'won'
  return resolution === 'merchant-accepted' || resolution === 'auto-accepted' ? 'lost' : 'unclear'
}
