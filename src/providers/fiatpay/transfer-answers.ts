import { z } from 'zod'
import { ProviderError } from '../../kernel/provider-error.js'
import { cleanLine } from '../../kernel/text.js'
import type { ProviderTransfer, TransferState } from '../../ports/payouts.js'
import { answer } from './requests.js'

const reasonLength = 200

/** Paystack's statuses of a transfer; the last five are conclusive, `success` unless money came back later. */
const states: Readonly<Record<string, TransferState>> = {
  otp: 'accepted',
  received: 'accepted',
  pending: 'started',
  processing: 'started',
  success: 'paid',
  failed: 'failed',
  abandoned: 'failed',
  blocked: 'failed',
  rejected: 'failed',
  reversed: 'returned',
}

/** A row of `GET /transfer` and the data of `GET /transfer/verify/:reference`. `amount`: kobo. */
const transfer = z.object({
  amount: z.int().positive(),
  currency: z.string(),
  reference: z.string(),
  status: z.string(),
  transfer_code: z.string().min(1),
  gateway_response: z.string().nullish(),
})

export const transferAnswer = answer(transfer)
export const transfersAnswer = answer(z.array(transfer))

/** Throws ProviderError for a status nobody documented: it says nothing about the money. */
export function transferOf(row: z.output<typeof transfer>): ProviderTransfer {
  const state = states[row.status]
  if (state === undefined)
    throw new ProviderError('ambiguous', `fiatpay knows a status ${cleanLine(row.status, 30)}`)
  return {
    id: row.transfer_code,
    reference: row.reference,
    amountKobo: BigInt(row.amount),
    currency: row.currency,
    state,
    reason: row.gateway_response ? cleanLine(row.gateway_response, reasonLength) : null,
  }
}
