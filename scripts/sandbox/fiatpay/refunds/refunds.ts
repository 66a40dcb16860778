import { z } from 'zod'
import type { NoAnswer, SandboxAnswer } from '../../http-route.js'
import { leftOf, type PaymentContext } from '../charges/transaction-json.js'
import { answerOrRefusal, type Endpoint, faultAnswers, ok, okPage } from '../endpoint.js'
import type { FiatpayFaults, RefundMode } from '../faults.js'
import { newestFirst, page } from '../paging.js'
import type { Ids, RecordStore } from '../record-store.js'
import type { Charge, Payment, Refund } from '../records.js'
import { Refusal } from '../refusal.js'
import { kobo, readInput } from '../schemas.js'

const noteMax = 200
/** After this long the money is back at the payer's. */
const settleMs = 1000

const creation = z.object({
  // The provider takes its id of the transaction, or the reference.
  transaction: z.union([z.string().max(100), z.int().positive().transform(String)], 'invalid_params'),
  amount: kobo.optional(),
  currency: z.literal('NGN', 'invalid_params').default('NGN'),
  merchant_note: z.string().max(noteMax, 'invalid_params').default(''),
})

/** What the endpoints of refunds need. */
export interface RefundContext extends PaymentContext {
  readonly charges: RecordStore<Charge>
  readonly faults: FiatpayFaults
  readonly ids: Ids
  readonly balanceKobo: number
  readonly refundRequested: (refund: Refund, charge: Charge) => void
}

/** `instead`: the answer when nothing is executed. `afterwards`: the answer after the refund was taken. */
const answersByMode: Record<
  RefundMode,
  { readonly instead?: SandboxAnswer | NoAnswer; readonly afterwards?: SandboxAnswer | NoAnswer }
> = {
  auto: {},
  manual: {},
  reject: {},
  timeout: { instead: faultAnswers.timeout },
  '500': { instead: faultAnswers['500'] },
  'accept-then-timeout': { afterwards: faultAnswers.timeout },
  'accept-then-500': { afterwards: faultAnswers['500'] },
}

/** `POST /refund`: takes a refund of a payment, or of a part of it. Never more than what was paid. */
export function createRefund(context: RefundContext): Endpoint {
  return (request) => {
    const { instead, afterwards } = answersByMode[context.faults.refundMode]
    if (instead !== undefined) return instead
    const answer = answerOrRefusal(() => take(context, readInput(creation, request)), request)
    return afterwards ?? answer
  }
}

function take(context: RefundContext, input: z.output<typeof creation>): SandboxAnswer {
  const { faults, refunds, ids } = context
  const [charge, payment] = findPayment(context, input.transaction)
  if (faults.refundMode === 'reject')
    throw new Refusal('invalid_params', faults.rejectText ?? 'This transaction cannot be refunded')
  const disputed = context.disputes
    .listByReference(charge.reference)
    .some(({ transaction, status }) => transaction === payment.id && status !== 'resolved')
  if (disputed) throw new Refusal('invalid_params', 'This transaction has an open dispute')
  const left = leftOf(context, charge, payment, 'taken')
  if (left <= 0) throw new Refusal('invalid_params', 'Transaction has been fully reversed')
  const amountKobo = input.amount ?? left
  if (amountKobo > left)
    throw new Refusal('invalid_params', 'Refund amount cannot be more than the transaction amount')
  if (amountKobo > context.balanceKobo) throw new Refusal('insufficient_balance')
  const now = new Date()
  const refund = refunds.write({
    id: ids.next(),
    reference: charge.reference,
    transaction: payment.id,
    amountKobo,
    note: input.merchant_note,
    createdAt: now.toISOString(),
    status: 'pending',
    settlesAt: faults.refundMode === 'manual' ? null : new Date(now.getTime() + settleMs).toISOString(),
  })
  context.refundRequested(refund, charge)
  return ok('Refund has been queued for processing', {
    ...refundJson(refund),
    transaction: { id: payment.id, reference: charge.reference, amount: payment.amountKobo, currency: 'NGN' },
  })
}

function findPayment({ charges }: RefundContext, transaction: string): [Charge, Payment] {
  const [byReference] = charges.listByReference(transaction)
  const byId = charges.get(Number(transaction))
  const charge =
    byReference ??
    byId ??
    charges.all().find(({ payments }) => payments.some(({ id }) => String(id) === transaction))
  const payment =
    charge?.payments.find(({ id }) => String(id) === transaction) ??
    (byReference === undefined ? undefined : byReference.payments.at(-1))
  if (charge === undefined || payment === undefined) throw new Refusal('transaction_not_found')
  return [charge, payment]
}

/** `GET /refund`: the refunds, newest first. */
export function listRefunds({ refunds }: RefundContext): Endpoint {
  return (request) =>
    okPage('Refunds retrieved', page(newestFirst(refunds.all().map(refundJson), request), request))
}

/** A pending refund with a time is processed once that time has come. */
export function refundStatus({ status, settlesAt }: Refund): Refund['status'] {
  return status === 'pending' && settlesAt !== null && Date.parse(settlesAt) <= Date.now()
    ? 'processed'
    : status
}

/** The fields that a webhook about a refund has at each status only. The amount is text at some, a number at others. */
const eventFields: Record<Refund['status'], (refund: Refund) => object> = {
  pending: ({ amountKobo }) => ({ refund_reference: null, amount: String(amountKobo) }),
  processing: ({ amountKobo }) => ({ refund_reference: null, amount: String(amountKobo) }),
  processed: ({ id, amountKobo }) => ({ refund_reference: String(id), amount: String(amountKobo) }),
  failed: ({ id, amountKobo }) => ({ refund_reference: `TRF_${id.toString(36)}`, amount: amountKobo }),
  'needs-attention': ({ id, amountKobo, note }) => ({
    refund_reference: `TRF_${id.toString(36)}`,
    amount: amountKobo,
    id: String(id),
    customer_note: '',
    merchant_note: note,
  }),
}

/** The data of a webhook about a refund. It names the charge by its reference. */
export function refundEvent(refund: Refund, email: string | undefined) {
  return {
    status: refund.status,
    transaction_reference: refund.reference,
    currency: 'NGN',
    ...(refund.status === 'needs-attention' ? {} : { processor: 'instant-transfer' }),
    customer: { first_name: '', last_name: '', email },
    integration: 100_043,
    domain: 'test',
    ...eventFields[refund.status](refund),
  }
}

/** A refund in the provider's format. */
function refundJson(refund: Refund) {
  const status = refundStatus(refund)
  return {
    id: refund.id,
    integration: 100_043,
    domain: 'test',
    transaction: refund.transaction,
    dispute: null,
    settlement: null,
    amount: refund.amountKobo,
    deducted_amount: refund.amountKobo,
    fully_deducted: true,
    currency: 'NGN',
    channel: 'migs',
    status,
    refunded_by: 'sandbox@example.com',
    refunded_at: status === 'processed' ? refund.settlesAt : null,
    expected_at: refund.settlesAt,
    customer_note: '',
    merchant_note: refund.note,
    createdAt: refund.createdAt,
    updatedAt: refund.createdAt,
  }
}
