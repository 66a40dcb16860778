import { createHash } from 'node:crypto'
import type { Charge, Payment } from '../records.js'

// The provider's own fees in kobo: 1.5 %, plus NGN 100 from NGN 2,500 up, at most NGN 2,000.
const feeShare = 0.015
const flatFeeFromKobo = 250_000
const flatFeeKobo = 10_000
const feeMaxKobo = 200_000

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

/** A transaction in the provider's format. Without a payment: the unpaid transaction. */
export function transactionJson(charge: Charge, payment: Payment | undefined) {
  const { reference, email, channel, amountKobo } = charge
  const paidAt = payment?.paidAt ?? null
  // A further payment is a new transaction.
  const createdAt = payment && payment.id !== charge.id ? payment.paidAt : charge.createdAt
  return {
    id: payment?.id ?? charge.id,
    domain: 'test',
    status: chargeStatus(charge),
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
    fees: payment ? feeOf(payment.amountKobo) : null,
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

function feeOf(kobo: number): number {
  const flat = kobo >= flatFeeFromKobo ? flatFeeKobo : 0
  return Math.min(Math.ceil(kobo * feeShare) + flat, feeMaxKobo)
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
