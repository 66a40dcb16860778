import { createHash } from 'node:crypto'
import type { RecordStore } from '../record-store.js'
import type { Charge, Dispute, Payment, Refund } from '../records.js'

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

export function customer(email: string) {
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
