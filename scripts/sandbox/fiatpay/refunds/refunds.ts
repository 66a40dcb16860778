import { z } from 'zod'
import type { NoAnswer, SandboxAnswer } from '../../http-route.js'
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
export interface RefundContext {
  readonly charges: RecordStore<Charge>
  readonly refunds: RecordStore<Refund>
  readonly faults: FiatpayFaults
  readonly ids: Ids
  readonly refundTaken: (refund: Refund) => void
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
  const taken = refunds
    .listByReference(charge.reference)
    .filter((one) => one.transaction === payment.id && refundStatus(one) !== 'failed')
  const left = taken.reduce((sum, { amountKobo }) => sum - amountKobo, payment.amountKobo)
  if (left === 0) throw new Refusal('invalid_params', 'Transaction has been fully reversed')
  const amountKobo = input.amount ?? left
  if (amountKobo > left)
    throw new Refusal('invalid_params', 'Refund amount cannot be more than the transaction amount')
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
  context.refundTaken(refund)
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

/** The data of a webhook about a refund. It names the charge by its reference, and the amount is text. */
export function refundEvent(refund: Refund, email: string | undefined) {
  return {
    status: refundStatus(refund),
    transaction_reference: refund.reference,
    refund_reference: String(refund.id),
    amount: String(refund.amountKobo),
    currency: 'NGN',
    processor: 'instant-transfer',
    customer: { first_name: '', last_name: '', email },
    integration: 100_043,
    domain: 'test',
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
