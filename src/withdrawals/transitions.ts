import { query } from '../platform/database/database.js'
import type { UnitOfWork } from '../platform/database/transact.js'
import { postHold, voidHold } from './ledger-entries.js'
import { pathTo, type WithdrawalStatus } from './lifecycle.js'
import { payoutChannel, type Withdrawal, withdrawalColumns } from './withdrawal.js'

const reasonLength = 200

/** A withdrawal whose row nobody else can change until the transaction ends. */
export interface LockedWithdrawal extends Withdrawal {
  readonly attempts: number
  readonly looks: number
  /** When the last request that may have arrived began, and the seconds since; null: there was none. */
  readonly sentAt: Date | null
  readonly sinceSent: number | null
}

/** Locks a withdrawal. Everything that decides about one holds this lock, and takes it before the ledger's. */
export async function lockWithdrawal(
  { trx }: Pick<UnitOfWork, 'trx'>,
  id: string,
): Promise<LockedWithdrawal | undefined> {
  const [row] = await query<LockedWithdrawal>(trx, {
    name: 'payouts.lock',
    text: /* sql */ `
      select ${withdrawalColumns}, w.attempts, w.looks, w.sent_at as "sentAt",
        extract(epoch from clock_timestamp() - w.sent_at)::float8 as "sinceSent"
      from withdrawals w where w.id = $1 for no key update`,
    values: [id],
  })
  return row
}

/** What the provider told of a transfer that it has. */
export interface ProviderAnswer {
  readonly providerId: string
  readonly reason: string | null
}

/**
 * Moves a withdrawal to where the provider says it is, through every state between, with its one movement of money at the
 * end. Does nothing when there is no way there from where it is.
 */
export async function advanceTo(
  uow: UnitOfWork,
  withdrawal: LockedWithdrawal,
  target: WithdrawalStatus,
  { providerId, reason }: ProviderAnswer,
): Promise<void> {
  const path = pathTo(withdrawal.status, target)
  let from = withdrawal.status
  for (const next of path) {
    const resolution = await resolve(uow, withdrawal, next)
    await query(uow.trx, {
      name: `payouts.${next}`,
      text: /* sql */ `
        update withdrawals set status = '${next}', ${next}_at = clock_timestamp(), send_state = 'sent', provider_id = $3,
          resolution_transfer = $4, failure_reason = $5, last_error = null
        where id = $1 and status = $2`,
      values: [withdrawal.id, from, providerId, resolution, next === 'failed' ? failureText(reason) : null],
    })
    from = next
  }
  if (path.length > 0) uow.publish(payoutChannel(withdrawal.reference))
}

async function resolve(
  { trx }: UnitOfWork,
  withdrawal: Withdrawal,
  next: WithdrawalStatus,
): Promise<bigint | null> {
  if (next === 'completed') return (await postHold(trx, withdrawal)).id
  if (next === 'failed') return (await voidHold(trx, withdrawal)).id
  return null
}

/** Ends a withdrawal that surely was not executed: the creator has all of the money back. The caller has made sure of that. */
export async function failUnpaid(
  uow: UnitOfWork,
  withdrawal: LockedWithdrawal,
  reason: string,
): Promise<void> {
  const { id } = await voidHold(uow.trx, withdrawal)
  await query(uow.trx, {
    name: 'payouts.refused',
    text: /* sql */ `
      update withdrawals set status = 'failed', send_state = 'refused', resolution_transfer = $2, failure_reason = $3,
        failed_at = clock_timestamp(), due_at = null, last_error = null
      where id = $1 and status = 'pending'`,
    values: [withdrawal.id, id, failureText(reason)],
  })
  uow.publish(payoutChannel(withdrawal.reference))
}

function failureText(reason: string | null): string {
  return (reason || 'The payout failed').slice(0, reasonLength)
}
