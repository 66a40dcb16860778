import { z } from 'zod'
import type { SandboxAnswer } from '../http-server.js'
import { answerInMode, type Endpoint, kobo, naira, ok, okNewest, Refusal, readInput } from './api.js'
import type { Fiatpay } from './fiatpay.js'
import type { Charge, Payment } from './records.js'
import { leftOf, refundJson } from './wire.js'

const noteMax = 200
/** After this long the money is back at the payer's. */
const settleMs = 1000

const creation = z.object({
  // The provider takes its id of the transaction, or the reference.
  transaction: z.union([z.string().max(100), z.int().positive().transform(String)]),
  amount: kobo.optional(),
  currency: naira,
  merchant_note: z.string().max(noteMax).default(''),
})

/** `POST /refund`: takes a refund of a payment, or of a part of it. Never more than what was paid. */
export const createRefund: Endpoint = (fiatpay, request) =>
  answerInMode(fiatpay.faults.mode.refunds, () => take(fiatpay, readInput(creation, request)))

function take(fiatpay: Fiatpay, input: z.output<typeof creation>): SandboxAnswer {
  const { refunds: mode, rejectText = 'This transaction cannot be refunded' } = fiatpay.faults.mode
  const [charge, payment] = findPayment(fiatpay, input.transaction)
  const disputed = fiatpay.disputes
    .listByReference(charge.reference)
    .some(({ transaction, status }) => transaction === payment.id && status !== 'resolved')
  const left = leftOf(fiatpay, charge, payment, 'taken')
  const amountKobo = input.amount ?? left
  if (mode === 'reject') throw new Refusal('invalid_params', rejectText)
  if (disputed) throw new Refusal('invalid_params', 'This transaction has an open dispute')
  if (left <= 0) throw new Refusal('invalid_params', 'Transaction has been fully reversed')
  if (amountKobo > left)
    throw new Refusal('invalid_params', 'Refund amount cannot be more than the transaction amount')
  if (amountKobo > fiatpay.balanceKobo) throw new Refusal('insufficient_balance')
  const now = new Date()
  const refund = fiatpay.refunds.write({
    id: fiatpay.ids.next(),
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

/** The payment with this id, or the newest one of the charge with this reference. */
function findPayment({ charges }: Fiatpay, transaction: string): [Charge, Payment] {
  const isIt = ({ id }: Payment) => String(id) === transaction
  const [byReference] = charges.listByReference(transaction)
  const charge = byReference ?? charges.all().find(({ payments }) => payments.some(isIt))
  const payment = charge?.payments.find(isIt) ?? byReference?.payments.at(-1)
  if (charge === undefined || payment === undefined) throw new Refusal('transaction_not_found')
  return [charge, payment]
}

export const listRefunds: Endpoint = ({ refunds }, request) =>
  okNewest('Refunds retrieved', refunds.all().map(refundJson), request)
