import type { SendState, WithdrawalStatus } from './lifecycle.js'

/** A withdrawal as its row says. Micro-USDC and kobo. */
export interface Withdrawal {
  readonly id: string
  readonly userId: string
  readonly reference: string
  readonly providerReference: string
  readonly status: WithdrawalStatus
  readonly sendState: SendState
  readonly currency: 'USDC' | 'NGN'
  readonly debitMicro: bigint
  readonly grossKobo: bigint
  readonly feeKobo: bigint
  readonly netKobo: bigint
  readonly bankCode: string
  readonly accountNumber: string
  readonly accountName: string
  readonly failureReason: string | null
  readonly createdAt: Date
  readonly submittedAt: Date | null
  readonly processingAt: Date | null
  readonly completedAt: Date | null
  readonly failedAt: Date | null
  /** Requests that may have reached the provider. */
  readonly sends: number
  readonly lastError: string | null
}

/** The columns of the table under the names of the model; `w` is the table. */
export const withdrawalColumns = /* sql */ `
  w.id, w.user_id as "userId", w.reference, w.provider_reference as "providerReference", w.status,
  w.send_state as "sendState", w.currency, w.debit_micro as "debitMicro", w.gross_kobo as "grossKobo",
  w.fee_kobo as "feeKobo", w.net_kobo as "netKobo", w.bank_code as "bankCode", w.account_number as "accountNumber",
  w.account_name as "accountName", w.failure_reason as "failureReason", w.created_at as "createdAt",
  w.submitted_at as "submittedAt", w.processing_at as "processingAt", w.completed_at as "completedAt",
  w.failed_at as "failedAt", w.sends, w.last_error as "lastError"`

/** The channel on which a change of a withdrawal is hinted. */
export function payoutChannel(reference: string): string {
  return `payout.${reference}`
}
