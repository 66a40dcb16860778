import { type RecentChanges, recentChanges } from '../accounts/protection.js'
import { namedOrigin, type Origin, originColumns } from '../kernel/trace-context.js'
import { waitsForBreaker } from '../outgoing/guards.js'
import type { LockedOutgoing, Outgoing } from '../outgoing/kind.js'
import type { OutgoingStatus, SendState } from '../outgoing/lifecycle.js'
import { query } from '../platform/database/database.js'
import type { UnitOfWork } from '../platform/database/transact.js'
import type { StoredAccount } from './bank-account.js'
import { type Hold, withdrawalTable } from './lifecycle.js'
import { waitsForDispute } from './work-queue.js'

/**
 * A row of `withdrawals`. Amounts in micro-USDC and kobo. `debitMicro`, `grossKobo`, `feeKobo` and `netKobo` are what was asked
 * for, or what was really paid once an operator has resolved that.
 */
export interface Withdrawal extends Origin, StoredAccount {
  readonly id: string
  readonly userId: string
  readonly reference: string
  readonly providerReference: string
  readonly status: OutgoingStatus
  readonly sendState: SendState
  readonly currency: 'USDC' | 'NGN'
  /** What was reserved. */
  readonly heldMicro: bigint
  readonly debitMicro: bigint
  readonly grossKobo: bigint
  readonly feeKobo: bigint
  readonly netKobo: bigint
  /** What the provider took for it, as booked; 0n before that. */
  readonly providerFeeKobo: bigint
  /** The net at the request. More than `netKobo` when the rate fell while it was held. */
  readonly promisedKobo: bigint
  readonly bankCode: string
  /** Null while the provider's list was never read. */
  readonly bankName: string | null
  readonly lastFour: string
  readonly failureReason: string | null
  readonly createdAt: Date
  readonly submittedAt: Date | null
  readonly processingAt: Date | null
  readonly completedAt: Date | null
  readonly failedAt: Date | null
  /** Requests that may have reached the provider. */
  readonly sends: number
  /** How often an operator had it sent again. */
  readonly replays: number
  /** An operator has resolved how much was paid. */
  readonly isResolved: boolean
  /** When the creator was credited again after a completed payout came back. */
  readonly recreditedAt: Date | null
  readonly lastError: string | null
  /** Why its creator must confirm it (docs/decisions/0057). Null: need not. */
  readonly confirmationReason: ConfirmationReason | null
  readonly confirmedAt: Date | null
  /** It could be sent, and waits for a payout limit or the pause. */
  readonly waitsForBreaker: boolean
  /** The limit that it waits for, while it could be sent. Null: none. */
  readonly breaker: string | null
  /** It could be sent, and waits for a dispute, for what is owed, or for the review of a debt. */
  readonly waitsForDispute: boolean
}

export type ConfirmationReason = 'new_account' | 'recent_change' | 'new_client'

/** Whether its creator must still confirm it. */
export function awaitsConfirmation({
  confirmationReason,
  confirmedAt,
}: Pick<Withdrawal, 'confirmationReason' | 'confirmedAt'>): boolean {
  return confirmationReason !== null && confirmedAt === null
}

/**
 * Null: it waits for nothing. Waiting for a dispute or the breaker is no send state: it comes and goes with the creator's balance
 * and with what others send, from `not_sent` as from `resend`, and says nothing about the sending.
 */
export function heldFor({
  sendState,
  waitsForDispute,
  waitsForBreaker,
}: Pick<Withdrawal, 'sendState' | 'waitsForDispute' | 'waitsForBreaker'>): Hold | null {
  if (sendState === 'identity_hold') return 'identity'
  if (sendState === 'confirmation_hold') return 'confirmation'
  if (waitsForDispute) return 'dispute'
  return waitsForBreaker ? 'breaker' : null
}

export const withdrawalColumns = /* sql */ `
  w.id, w.user_id as "userId", w.reference, w.provider_reference as "providerReference",
  ${originColumns('w')}, w.status,
  w.send_state as "sendState", w.currency, w.debit_micro as "heldMicro",
  coalesce(w.paid_debit_micro, w.debit_micro) as "debitMicro",
  coalesce(w.paid_kobo + w.paid_fee_kobo, w.gross_kobo) as "grossKobo",
  coalesce(w.paid_fee_kobo, w.fee_kobo) as "feeKobo", coalesce(w.paid_kobo, w.net_kobo) as "netKobo",
  coalesce(w.provider_fee_kobo, 0) as "providerFeeKobo",
  coalesce(w.promised_kobo, w.net_kobo) as "promisedKobo", w.bank_code as "bankCode",
  (select b.name from banks b where b.code = w.bank_code) as "bankName",
  w.account_last_four as "lastFour", w.sealed_account as "sealedAccount", w.failure_reason as "failureReason", w.created_at as "createdAt",
  w.submitted_at as "submittedAt", w.processing_at as "processingAt", w.completed_at as "completedAt",
  w.failed_at as "failedAt", w.sends, w.replays, w.paid_kobo is not null as "isResolved",
  w.recredited_at as "recreditedAt", w.last_error as "lastError", w.confirmation_reason as "confirmationReason",
  w.confirmed_at as "confirmedAt", ${waitsForDispute('w')} as "waitsForDispute",
  ${waitsForBreaker('w')} as "waitsForBreaker", w.breaker`

/** The channel for notifications that this withdrawal has changed. */
export function payoutChannel(reference: string): string {
  return `payout.${reference}`
}

/** A withdrawal whose row is locked until the transaction ends, with what its mails need to know of its owner. */
export interface LockedWithdrawal extends Withdrawal, LockedOutgoing, RecentChanges {
  /** The seconds since it failed, or its creator was credited again. Null: never. */
  readonly sinceGivenBack: number | null
  readonly hasReviews: boolean
  /** Keyed hash of bank code and account number. */
  readonly accountHash: Buffer
}

/** Whether a withdrawal has open reviews, as SQL that names the row `w`. */
export const hasReviews =
  'exists (select from review_items r where r.withdrawal_id = w.id and r.resolved_at is null)'

/** Locks a withdrawal, before the locks of the ledger. */
export async function lockWithdrawal(
  { trx }: Pick<UnitOfWork, 'trx'>,
  id: string,
): Promise<LockedWithdrawal | undefined> {
  const [row] = await query<LockedWithdrawal>(trx, {
    name: 'payouts.lock',
    text: /* sql */ `
      select ${withdrawalColumns}, w.attempts, w.looks as polls, w.sent_at as "sentAt", w.account_hash as "accountHash",
        extract(epoch from clock_timestamp() - w.sent_at)::float8 as "sinceSent",
        extract(epoch from clock_timestamp() - coalesce(w.recredited_at, w.failed_at))::float8 as "sinceGivenBack",
        ${hasReviews} as "hasReviews", ${recentChanges}
      from withdrawals w join users u on u.id = w.user_id where w.id = $1 for no key update of w`,
    values: [id],
  })
  return row
}

/** A row of outgoing money that is a withdrawal. */
type WithdrawalRow = Outgoing & Pick<Withdrawal, 'reference' | keyof Origin>

/** How the log names a withdrawal. */
export const withdrawalRow = {
  table: withdrawalTable,
  fieldsOf: (row: Outgoing) => {
    const withdrawal = row as WithdrawalRow
    return { reference: withdrawal.reference, ...namedOrigin(withdrawal) }
  },
}
