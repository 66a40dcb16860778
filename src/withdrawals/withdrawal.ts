import { type Step, stepsBetween } from '../kernel/state-machine.js'
import { query } from '../platform/database/database.js'
import type { UnitOfWork } from '../platform/database/transact.js'
import { advanceWithdrawal } from './advance.js'
import { postHold, voidHold } from './ledger-entries.js'
import {
  type HoldEntry,
  providerSteps,
  type SendState,
  unpaidStep,
  type WithdrawalStatus,
} from './lifecycle.js'
import { type MailSettings, mailCreator, type WithdrawalEvent } from './mails.js'
import { type Asked, requireUnsent } from './never-sent.js'
import { waitsForBreaker } from './pause.js'
import { closeReviews } from './reviews.js'
import type { StoredAccount } from './sealed-account.js'
import { payoutJobIds, type SendCount, waitsForDispute } from './work-queue.js'

/**
 * A row of `withdrawals`. Amounts in micro-USDC and kobo. `debitMicro`, `grossKobo`, `feeKobo` and `netKobo` are what was asked
 * for, or what was really paid once an operator has resolved that.
 */
export interface Withdrawal extends StoredAccount {
  readonly id: string
  readonly userId: string
  readonly reference: string
  readonly providerReference: string
  /** The request that made it. Null: made before this was kept, or adopted. */
  readonly requestId: string | null
  readonly status: WithdrawalStatus
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
  /** The last four digits of the account. */
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

/** The columns of `withdrawals w` as fields of `Withdrawal`. */
export const withdrawalColumns = /* sql */ `
  w.id, w.user_id as "userId", w.reference, w.provider_reference as "providerReference",
  w.request_id as "requestId", w.status,
  w.send_state as "sendState", w.currency, w.debit_micro as "heldMicro",
  coalesce(w.paid_debit_micro, w.debit_micro) as "debitMicro",
  coalesce(w.paid_kobo + w.paid_fee_kobo, w.gross_kobo) as "grossKobo",
  coalesce(w.paid_fee_kobo, w.fee_kobo) as "feeKobo", coalesce(w.paid_kobo, w.net_kobo) as "netKobo",
  coalesce(w.provider_fee_kobo, 0) as "providerFeeKobo",
  coalesce(w.promised_kobo, w.net_kobo) as "promisedKobo", w.bank_code as "bankCode",
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

/** A withdrawal whose row is locked until the transaction ends. */
export interface LockedWithdrawal extends Withdrawal {
  readonly attempts: number
  /** How often the provider was polled since the last request was sent. */
  readonly polls: number
  /** When the last request that may have reached the provider began, and the seconds since then. Null: there was none. */
  readonly sentAt: Date | null
  readonly sinceSent: number | null
  /** The seconds since the creator was credited again. Null: never. */
  readonly sinceRecredit: number | null
  /** Keyed hash of bank code and account number. */
  readonly accountHash: Buffer
}

/** Locks a withdrawal. Every decision about one holds this lock, and takes it before the locks of the ledger. */
export async function lockWithdrawal(
  { trx }: Pick<UnitOfWork, 'trx'>,
  id: string,
): Promise<LockedWithdrawal | undefined> {
  const [row] = await query<LockedWithdrawal>(trx, {
    name: 'payouts.lock',
    text: /* sql */ `
      select ${withdrawalColumns}, w.attempts, w.looks as polls, w.sent_at as "sentAt", w.account_hash as "accountHash",
        extract(epoch from clock_timestamp() - w.sent_at)::float8 as "sinceSent",
        extract(epoch from clock_timestamp() - w.recredited_at)::float8 as "sinceRecredit"
      from withdrawals w where w.id = $1 for no key update`,
    values: [id],
  })
  return row
}

/** What the provider answered about a transfer that it has. */
export interface ProviderAnswer {
  /** Null: keep the id that is recorded. */
  readonly providerId: string | null
  readonly reason: string | null
  /** What it took for the transfer. Counts if the withdrawal ends as paid. */
  readonly feeKobo: bigint
}

/**
 * Moves a withdrawal to the status that the provider shows, through every status between, and posts or voids its hold at
 * the end, which its creator is told by mail. Does nothing when no path leads there from the current status.
 */
export async function advanceTo(
  uow: UnitOfWork,
  config: MailSettings,
  withdrawal: LockedWithdrawal,
  target: WithdrawalStatus,
  { providerId, reason, feeKobo }: ProviderAnswer,
): Promise<void> {
  const steps = stepsBetween(providerSteps, withdrawal.status, target)
  let sendState = withdrawal.sendState
  for (const { from, to, entries } of steps) {
    const resolution = await resolveHold(uow, { ...withdrawal, providerFeeKobo: feeKobo }, entries)
    await advanceWithdrawal(uow, {
      name: `payouts.${to}`,
      id: withdrawal.id,
      status: [from, to],
      from: [sendState],
      to: 'sent',
      set: `provider_id = coalesce($6, provider_id), resolution_transfer = $7, failure_reason = $8, last_error = null,
        provider_fee_kobo = $9`,
      values: [
        providerId,
        resolution,
        to === 'failed' ? failureText(reason) : null,
        to === 'completed' ? feeKobo : null,
      ],
    })
    sendState = 'sent'
    if (to === 'completed') await mailCreator(uow, config, withdrawal, [{ kind: 'withdrawal-paid' }])
    if (to === 'failed') await mailCreator(uow, config, withdrawal, [failedEvent(reason)])
  }
  if (steps.length > 0) announceOutcome(uow, withdrawal)
}

/** Ends the waiting of the request that made the withdrawal, and removes its failed jobs: it has an outcome. */
export function announceOutcome({ publish, removeJobs }: UnitOfWork, withdrawal: SendCount): void {
  publish(payoutChannel(withdrawal.reference))
  removeJobs('payouts', payoutJobIds(withdrawal))
}

const holdEntries = { postHold, voidHold }

/** The id of the ledger transfer that resolves the hold with this step. */
async function resolveHold(
  { trx }: UnitOfWork,
  withdrawal: Withdrawal,
  entries: Step<WithdrawalStatus, HoldEntry>['entries'],
): Promise<bigint | null> {
  let resolution: bigint | null = null
  for (const entry of entries) resolution = (await holdEntries[entry](trx, withdrawal)).id
  return resolution
}

export interface Unpaid {
  readonly reason: string
  /** What the provider says that it has. */
  readonly asked: Asked
  /** What the creator is told. */
  readonly event?: WithdrawalEvent
}

/**
 * Fails a withdrawal and gives all of the money back. The caller has made sure that the payout was not executed, as far as these
 * rows can know it. Throws as `requireUnsent`.
 */
export async function failUnpaid(
  uow: UnitOfWork,
  config: MailSettings,
  withdrawal: LockedWithdrawal,
  { reason, asked, event = failedEvent(reason) }: Unpaid,
): Promise<void> {
  await requireUnsent(uow, withdrawal.id, asked)
  await advanceWithdrawal(uow, {
    name: 'payouts.refused',
    id: withdrawal.id,
    status: [unpaidStep.from, unpaidStep.to],
    from: [withdrawal.sendState],
    to: 'refused',
    set: 'resolution_transfer = $6, failure_reason = $7, due_at = null, last_error = null',
    values: [await resolveHold(uow, withdrawal, unpaidStep.entries), failureText(reason)],
  })
  await closeReviews(uow, withdrawal.id, ['debt'], 'it was not sent')
  await mailCreator(uow, config, withdrawal, [event])
  announceOutcome(uow, withdrawal)
}

function failedEvent(reason: string | null): WithdrawalEvent {
  return { kind: 'withdrawal-failed', reason: failureText(reason) }
}

const maxReasonLength = 200

function failureText(reason: string | null): string {
  return (reason || 'The payout failed').slice(0, maxReasonLength)
}
