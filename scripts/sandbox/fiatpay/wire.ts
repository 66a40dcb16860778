// The provider's formats: the fields that somebody reads, and those by which a person finds a row.
import { banks } from './banks.js'
import type { RecordStore } from './record-store.js'
import type { Charge, Dispute, Payment, Recipient, Refund, Transfer } from './records.js'

/** What decides whether a payment is still there. */
interface PaymentContext {
  readonly refunds: RecordStore<Refund>
  readonly disputes: RecordStore<Dispute>
}

interface DisputeContext extends PaymentContext {
  readonly charges: RecordStore<Charge>
}

/** `abandoned`: not yet paid on the checkout page. `ongoing`: the bank transfer has not arrived yet. */
export function chargeStatus({
  payments,
  failure,
  channel,
}: Charge): 'success' | 'failed' | 'ongoing' | 'abandoned' {
  if (payments.length > 0) return 'success'
  if (failure !== null) return 'failed'
  return channel === 'bank_transfer' ? 'ongoing' : 'abandoned'
}

/**
 * What is left of a payment after reversals, lost disputes and refunds. `kind`: with `taken` pending refunds count too, with
 * `returned` only those that reached the payer.
 */
export function leftOf(
  { refunds, disputes }: PaymentContext,
  { reference }: Charge,
  { id, amountKobo, reversedKobo = 0 }: Payment,
  kind: 'taken' | 'returned',
): number {
  const refunded = refunds
    .listByReference(reference)
    .filter(
      ({ transaction, status }) =>
        transaction === id && (kind === 'taken' ? status !== 'failed' : status === 'processed'),
    )
  const lost = disputes.listByReference(reference).filter(({ transaction }) => transaction === id)
  return (
    amountKobo -
    reversedKobo -
    refunded.reduce((sum, refund) => sum + refund.amountKobo, 0) -
    lost.reduce((sum, { takenKobo }) => sum + takenKobo, 0)
  )
}

/** As `chargeStatus`, of one payment of a charge. It is `reversed` when nothing of it is left. */
export function transactionStatus(context: PaymentContext, charge: Charge, payment: Payment | undefined) {
  if (payment === undefined || leftOf(context, charge, payment, 'returned') > 0) return chargeStatus(charge)
  return 'reversed'
}

/** A transaction in the provider's format. Without a payment: the unpaid transaction. */
export function transactionJson(context: PaymentContext, charge: Charge, payment: Payment | undefined) {
  const { reference, email, channel, amountKobo } = charge
  const paidAt = payment?.paidAt ?? null
  return {
    id: payment?.id ?? charge.id,
    domain: 'test',
    status: transactionStatus(context, charge, payment),
    reference,
    amount: payment?.amountKobo ?? amountKobo,
    gateway_response: payment ? 'Approved' : (charge.failure ?? 'The transaction was not completed'),
    paid_at: paidAt,
    channel,
    currency: 'NGN',
    metadata: charge.metadata ?? '',
    fees: payment?.feeKobo ?? null,
    customer: { email },
    paidAt,
    // A further payment is a new transaction.
    createdAt: payment && payment.id !== charge.id ? payment.paidAt : charge.createdAt,
    requested_amount: amountKobo,
  }
}

export function disputeJson(context: DisputeContext, dispute: Dispute) {
  const [charge] = context.charges.listByReference(dispute.reference)
  if (charge === undefined) throw new Error('a dispute without a charge')
  const payment = charge.payments.find(({ id }) => id === dispute.transaction)
  return {
    id: dispute.id,
    refund_amount: dispute.shownKobo,
    currency: 'NGN',
    status: dispute.status,
    resolution: dispute.resolution,
    domain: 'test',
    transaction: transactionJson(context, charge, payment),
    transaction_reference: null,
    category: 'chargeback',
    customer: { email: charge.email },
    dueAt: dispute.dueAt,
    resolvedAt: dispute.resolvedAt,
    evidence: dispute.evidence,
    attachments: dispute.fileName,
    messages: dispute.message === null ? [] : [{ body: dispute.message, createdAt: dispute.updatedAt }],
    createdAt: dispute.createdAt,
    updatedAt: dispute.updatedAt,
  }
}

/** The data of a webhook about a dispute: the same, with other names of the times. */
export function disputeEvent(context: DisputeContext, dispute: Dispute) {
  const { createdAt, updatedAt, ...shown } = disputeJson(context, dispute)
  return { ...shown, created_at: createdAt, updated_at: updatedAt }
}

/** A transfer in the format of the provider's answer to `POST /transfer`. */
export function sentJson(transfer: Transfer, recipient: Recipient) {
  const { id, code, reference, amountKobo, narration, status, executedAt, updatedAt } = transfer
  return {
    amount: amountKobo,
    createdAt: executedAt,
    currency: 'NGN',
    domain: 'test',
    id,
    reason: narration,
    recipient: recipient.id,
    reference,
    source: 'balance',
    status,
    transfer_code: code,
    transferred_at: status === 'success' ? updatedAt : null,
    updatedAt,
  }
}

export function transferJson(transfer: Transfer, recipient: Recipient | undefined) {
  if (recipient === undefined) throw new Error('a transfer without a recipient')
  return {
    ...sentJson(transfer, recipient),
    recipient: recipientJson(recipient),
    fee_charged: transfer.feeKobo,
    gateway_response: transfer.failure,
  }
}

export function recipientJson({ id, reference, name, bankCode, accountNumber, createdAt }: Recipient) {
  return {
    active: true,
    createdAt,
    currency: 'NGN',
    domain: 'test',
    id,
    name,
    recipient_code: reference,
    type: 'nuban',
    updatedAt: createdAt,
    details: {
      account_number: accountNumber,
      account_name: name,
      bank_code: bankCode,
      bank_name: banks.get(bankCode),
    },
  }
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
    customer: { email },
    domain: 'test',
    ...eventFields[refund.status](refund),
  }
}

export function refundJson(refund: Refund) {
  return {
    id: refund.id,
    domain: 'test',
    transaction: refund.transaction,
    dispute: null,
    amount: refund.amountKobo,
    currency: 'NGN',
    status: refundStatus(refund),
    expected_at: refund.settlesAt,
    customer_note: '',
    merchant_note: refund.note,
    createdAt: refund.createdAt,
    updatedAt: refund.createdAt,
  }
}
