// The provider's formats, with every field that it sends.
import { createHash } from 'node:crypto'
import { bankName } from './banks.js'
import type { RecordStore } from './record-store.js'
import type { Charge, Dispute, Payment, Recipient, Refund, Transfer } from './records.js'

/** What decides whether a payment is still there. */
export interface PaymentContext {
  readonly refunds: RecordStore<Refund>
  readonly disputes: RecordStore<Dispute>
}

type Status = ReturnType<typeof chargeStatus> | 'reversed'

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
export function transactionStatus(
  context: PaymentContext,
  charge: Charge,
  payment: Payment | undefined,
): Status {
  if (payment === undefined || leftOf(context, charge, payment, 'returned') > 0) return chargeStatus(charge)
  return 'reversed'
}

/** A transaction in the provider's format. Without a payment: the unpaid transaction. */
export function transactionJson(charge: Charge, payment: Payment | undefined, status: Status) {
  const { reference, email, channel, amountKobo } = charge
  const paidAt = payment?.paidAt ?? null
  // A further payment is a new transaction.
  const createdAt = payment && payment.id !== charge.id ? payment.paidAt : charge.createdAt
  return {
    id: payment?.id ?? charge.id,
    domain: 'test',
    status,
    reference,
    receipt_number: null,
    amount: payment?.amountKobo ?? amountKobo,
    message: null,
    gateway_response: payment ? 'Approved' : (charge.failure ?? 'The transaction was not completed'),
    paid_at: paidAt,
    created_at: createdAt,
    channel,
    currency: 'NGN',
    ip_address: null,
    metadata: charge.metadata ?? '',
    log: null,
    fees: payment ? (payment.feeKobo ?? 0) : null,
    fees_split: null,
    authorization: payment ? authorization(charge) : {},
    customer: customer(email),
    plan: null,
    split: {},
    order_id: null,
    paidAt,
    createdAt,
    requested_amount: amountKobo,
    pos_transaction_data: null,
    source: null,
    fees_breakdown: null,
    connect: null,
    transaction_date: createdAt,
    plan_object: {},
    subaccount: {},
  }
}

function authorization({ channel, reference }: Charge) {
  return {
    authorization_code: `AUTH_${digits(reference, 10)}`,
    bin: '408408',
    last4: '4081',
    exp_month: '12',
    exp_year: '2030',
    channel,
    card_type: channel === 'card' ? 'visa' : 'transfer',
    bank: channel === 'card' ? 'TEST BANK' : null,
    country_code: 'NG',
    brand: channel === 'card' ? 'visa' : 'Managed Account',
    reusable: channel === 'card',
    signature: null,
    account_name: null,
  }
}

function customer(email: string) {
  return {
    id: Number.parseInt(digits(email, 7), 16),
    first_name: null,
    last_name: null,
    email,
    customer_code: `CUS_${digits(email, 15)}`,
    phone: null,
    metadata: null,
    risk_action: 'default',
    international_format_phone: null,
  }
}

function digits(text: string, count: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, count)
}

/** A dispute in the provider's format. `transaction`: the disputed one. */
export function disputeJson(
  dispute: Dispute,
  charge: Charge,
  transaction: ReturnType<typeof transactionJson>,
) {
  return {
    id: dispute.id,
    refund_amount: dispute.shownKobo,
    currency: 'NGN',
    status: dispute.status,
    resolution: dispute.resolution,
    domain: 'test',
    transaction,
    transaction_reference: null,
    merchant_transaction_reference: null,
    source: 'bank',
    category: 'chargeback',
    customer: customer(charge.email),
    bin: '408408',
    last4: '4081',
    dueAt: dispute.dueAt,
    resolvedAt: dispute.resolvedAt,
    evidence: dispute.evidence,
    attachments: dispute.fileName,
    note: null,
    history: [{ status: dispute.status, by: charge.email, createdAt: dispute.createdAt }],
    messages: [
      { sender: charge.email, body: 'I do not know this payment', createdAt: dispute.createdAt },
      ...(dispute.message === null
        ? []
        : [{ sender: 'sandbox@example.com', body: dispute.message, createdAt: dispute.updatedAt }]),
    ],
    createdAt: dispute.createdAt,
    updatedAt: dispute.updatedAt,
  }
}

/** The data of a webhook about a dispute: the same, with other names of the times. */
export function disputeEvent({ createdAt, updatedAt, ...shown }: ReturnType<typeof disputeJson>) {
  return { ...shown, created_at: createdAt, updated_at: updatedAt }
}

/** A transfer in the format of the provider's answer to `POST /transfer`. */
export function sentJson(transfer: Transfer, recipient: Recipient) {
  return { ...commonFields(transfer), recipient: recipient.id, transfersessionid: [], transfertrials: [] }
}

/** A transfer in the format of the provider's lookups and lists. */
export function transferJson(transfer: Transfer, recipient: Recipient | undefined) {
  return {
    ...commonFields(transfer),
    recipient: recipient ? recipientJson(recipient) : null,
    session: { provider: transfer.status === 'success' ? 'nip' : null, id: null },
    fee_charged: transfer.feeKobo ?? 0,
    fees_breakdown: null,
    gateway_response: transfer.failure,
  }
}

function commonFields({
  id,
  code,
  reference,
  amountKobo,
  narration,
  status,
  executedAt,
  updatedAt,
}: Transfer) {
  return {
    amount: amountKobo,
    createdAt: executedAt,
    currency: 'NGN',
    domain: 'test',
    failures: null,
    id,
    integration: 100_043,
    reason: narration,
    reference,
    request: id,
    source: 'balance',
    source_details: null,
    status,
    titan_code: null,
    transfer_code: code,
    transferred_at: status === 'success' ? updatedAt : null,
    updatedAt,
  }
}

/** A recipient in the provider's format. */
export function recipientJson({ id, reference, name, bankCode, accountNumber, createdAt }: Recipient) {
  return {
    active: true,
    createdAt,
    currency: 'NGN',
    description: '',
    domain: 'test',
    email: null,
    id,
    integration: 100_043,
    metadata: null,
    name,
    recipient_code: reference,
    type: 'nuban',
    updatedAt: createdAt,
    is_deleted: false,
    isDeleted: false,
    details: {
      authorization_code: null,
      account_number: accountNumber,
      account_name: name,
      bank_code: bankCode,
      bank_name: bankName(bankCode),
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
    customer: { first_name: '', last_name: '', email },
    integration: 100_043,
    domain: 'test',
    ...eventFields[refund.status](refund),
  }
}

/** A refund in the provider's format. */
export function refundJson(refund: Refund) {
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
