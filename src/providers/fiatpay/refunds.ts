import { z } from 'zod'
import { ProviderError } from '../../kernel/provider-error.js'
import { cleanLine } from '../../kernel/text.js'
import type { ProviderRefund, RefundState, Refunds } from '../../ports/refunds.js'
import {
  answer,
  createFiatpayQuery,
  createFiatpayRequest,
  type FiatpayAccess,
  type FiatpayReply,
  parse,
  readPages,
  refusal,
  wireKobo,
} from './requests.js'

const textLength = 200
/** Statuses that are about the request. The other 4xx are about our account or its load. */
const requestStatuses = new Set([400, 404, 422])

const states: Readonly<Record<string, RefundState>> = {
  pending: 'started',
  processing: 'started',
  'needs-attention': 'attention',
  processed: 'paid',
  failed: 'failed',
}

/** The answer to a request names the whole transaction, a list only its id. */
const named = z.object({
  transaction: z.union([z.int().positive(), z.object({ id: z.int().positive() }).transform(({ id }) => id)]),
})
const refund = named.extend({
  id: z.int().positive(),
  amount: wireKobo.pipe(z.bigint().positive()),
  currency: z.literal('NGN'),
  status: z.string(),
  dispute: z
    .union([z.int().positive(), z.object({ id: z.int().positive() }).transform(({ id }) => id)])
    .nullish(),
  merchant_note: z.string().nullish(),
})
const refundAnswer = answer(refund)
/** Only the refunds of the payment in question are read strictly: those of others say nothing about it. */
const namedRefund = z.looseObject(named.shape)

/** Refunds in Paystack's wire format: `POST /refund` and `GET /refund`. */
export function createFiatpayRefunds(access: FiatpayAccess): Refunds {
  const request = createFiatpayRequest(access)
  const query = createFiatpayQuery(access)
  return {
    async request({ transaction, kobo, note }) {
      const body = { transaction, amount: Number(kobo), currency: 'NGN', merchant_note: note }
      const reply = await request('/refund', body)
      const parsed = refundAnswer.safeParse(reply.body)
      if (!parsed.success || reply.status >= 300) throw requestFailure(reply)
      const taken = refundOf(parsed.data.data)
      if (taken.transaction === transaction && taken.kobo === kobo) return taken
      throw new ProviderError('ambiguous', 'fiatpay confirmed another refund than the one requested')
    },
    // The filter by transaction is not documented everywhere; `from` is.
    async list(transaction, since) {
      const found: ProviderRefund[] = []
      const read = (row: unknown) => {
        const named = parse(namedRefund, row)
        return String(named.transaction) === transaction ? [refundOf(parse(refund, row))] : []
      }
      for await (const rows of readPages(query, '/refund', read, { from: since })) found.push(...rows.flat())
      return found.sort((one, other) => Number(BigInt(one.id) - BigInt(other.id)))
    },
    async *listAll(from, to) {
      yield* readPages(query, '/refund', (row) => refundOf(parse(refund, row)), { from, to })
    },
  }
}

/** Throws ProviderError for an undocumented status, which says nothing about the money. */
function refundOf(shown: z.output<typeof refund>): ProviderRefund {
  const { id, transaction, amount, status, dispute, merchant_note: note } = shown
  const state = states[status]
  if (state === undefined)
    throw new ProviderError('ambiguous', `fiatpay knows a refund status ${cleanLine(status, 30)}`)
  return {
    id: String(id),
    transaction: String(transaction),
    kobo: amount,
    state,
    dispute: dispute ? String(dispute) : null,
    note: note ?? '',
  }
}

/** Only an answer in the provider's envelope is a refusal: another one may come from a proxy in front of it. */
function requestFailure({ status, body }: FiatpayReply): ProviderError {
  const refused = requestStatuses.has(status) ? refusal.safeParse(body).data : undefined
  // About our balance there. It says nothing about the payment.
  if (refused?.code === 'insufficient_balance')
    return new ProviderError('unavailable', `fiatpay refuses our account: ${refused.code}`, status)
  if (refused !== undefined)
    return new ProviderError('rejected', cleanLine(refused.message, textLength), status)
  if (status === 401 || status === 429)
    return new ProviderError('unavailable', `fiatpay does not take our requests (${status})`, status)
  return new ProviderError('ambiguous', `fiatpay answered ${status} to a refund`, status)
}
