import type { Recipient, Transfer } from '../records.js'
import { recipientJson } from './recipients.js'

// The provider's own fees in kobo: NGN 10 up to NGN 5,000, NGN 25 up to NGN 50,000, NGN 50 above.
const smallKobo = 500_000
const mediumKobo = 5_000_000

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
    fee_charged: feeOf(transfer.amountKobo),
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

function feeOf(kobo: number): number {
  if (kobo <= smallKobo) return 1000
  return kobo <= mediumKobo ? 2500 : 5000
}
