import { z } from 'zod'
import type { SandboxAnswer } from '../http-route.js'
import { answerInMode, type Endpoint, ok, okPage } from './endpoint.js'
import type { Fiatpay } from './fiatpay.js'
import { kobo, newestFirst, page, readInput } from './input.js'
import type { Charge, Payment } from './records.js'
import { Refusal } from './refusal.js'
import { leftOf, refundJson } from './wire.js'

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

/** `POST /refund`: takes a refund of a payment, or of a part of it. Never more than what was paid. */
export const createRefund: Endpoint = (fiatpay, request) =>
  answerInMode(fiatpay.faults.mode.refunds, () => take(fiatpay, readInput(creation, request)))

function take(fiatpay: Fiatpay, input: z.output<typeof creation>): SandboxAnswer {
  const { refunds, ids } = fiatpay
  const { refunds: mode, rejectText } = fiatpay.faults.mode
  const [charge, payment] = findPayment(fiatpay, input.transaction)
  if (mode === 'reject')
    throw new Refusal('invalid_params', rejectText ?? 'This transaction cannot be refunded')
  const disputed = fiatpay.disputes
    .listByReference(charge.reference)
    .some(({ transaction, status }) => transaction === payment.id && status !== 'resolved')
  if (disputed) throw new Refusal('invalid_params', 'This transaction has an open dispute')
  const left = leftOf(fiatpay, charge, payment, 'taken')
  if (left <= 0) throw new Refusal('invalid_params', 'Transaction has been fully reversed')
  const amountKobo = input.amount ?? left
  if (amountKobo > left)
    throw new Refusal('invalid_params', 'Refund amount cannot be more than the transaction amount')
  if (amountKobo > fiatpay.balanceKobo) throw new Refusal('insufficient_balance')
  const now = new Date()
  const refund = refunds.write({
    id: ids.next(),
    reference: charge.reference,
    transaction: payment.id,
    amountKobo,
    note: input.merchant_note,
    createdAt: now.toISOString(),
    status: 'pending',
    settlesAt: mode === 'manual' ? null : new Date(now.getTime() + settleMs).toISOString(),
  })
  fiatpay.refundRequested(refund, charge)
  return ok('Refund has been queued for processing', {
    ...refundJson(refund),
    transaction: { id: payment.id, reference: charge.reference, amount: payment.amountKobo, currency: 'NGN' },
  })
}

function findPayment({ charges }: Fiatpay, transaction: string): [Charge, Payment] {
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
export const listRefunds: Endpoint = ({ refunds }, request) =>
  okPage('Refunds retrieved', page(newestFirst(refunds.all().map(refundJson), request), request))
