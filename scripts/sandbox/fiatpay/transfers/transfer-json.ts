import type { Recipient, Transfer } from '../records.js'
import { recipientJson } from './recipients.js'

/** A transfer in the format of the provider's answer to `POST /transfer`. */
export function sentJson(transfer: Transfer, recipient: Recipient) {
  return { ...common(transfer), recipient: recipient.id, transfersessionid: [], transfertrials: [] }
}

/** A transfer in the format of the provider's lookups and lists. */
export function transferJson(transfer: Transfer, recipient: Recipient | undefined) {
  return {
    ...common(transfer),
    recipient: recipient ? recipientJson(recipient) : null,
    session: { provider: transfer.status === 'success' ? 'nip' : null, id: null },
    fee_charged: transfer.feeKobo ?? 0,
    fees_breakdown: null,
    gateway_response: transfer.failure,
  }
}

function common({ id, code, reference, amountKobo, narration, status, executedAt, updatedAt }: Transfer) {
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
