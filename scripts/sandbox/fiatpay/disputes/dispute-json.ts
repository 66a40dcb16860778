import { customer, type transactionJson } from '../charges/transaction-json.js'
import type { Charge, Dispute } from '../records.js'

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
