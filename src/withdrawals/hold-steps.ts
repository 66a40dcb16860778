import { sqlList } from '../kernel/state-machine.js'
import { heldStates } from '../outgoing/lifecycle.js'
import { logStep, type StepPlace } from '../outgoing/steps.js'
import { query } from '../platform/database/database.js'
import type { UnitOfWork } from '../platform/database/transact.js'
import type { WithdrawalPrice } from './price-withdrawal.js'
import { type LockedWithdrawal, withdrawalRow } from './withdrawal.js'

// The steps out of a hold. All others are in src/outgoing/steps.ts.

/** The identity is verified, or an operator has released it: now its creator confirms it. */
export async function waitForConfirmation(uow: UnitOfWork, withdrawal: LockedWithdrawal): Promise<void> {
  await query(uow.trx, {
    name: 'identity.confirm-next',
    text: `update withdrawals set send_state = 'confirmation_hold' where id = $1 and send_state = 'identity_hold'`,
    values: [withdrawal.id],
  })
  logStep(uow, withdrawalRow, withdrawal, 'confirmation_hold')
}

/** It may be sent. `price`: less than was promised, at the rate of now; undefined: the promise stands. */
export async function leaveHold(
  uow: UnitOfWork,
  withdrawal: LockedWithdrawal,
  price: (Omit<WithdrawalPrice, 'debitMicro'> & { readonly rateId: bigint }) | undefined,
): Promise<void> {
  await query(uow.trx, {
    name: 'held.release',
    text: /* sql */ `
      update withdrawals set send_state = 'not_sent', due_at = clock_timestamp(), rate_id = coalesce($2, rate_id),
        gross_kobo = coalesce($3, gross_kobo), fee_kobo = coalesce($4, fee_kobo), net_kobo = coalesce($5, net_kobo),
        promised_kobo = case when $5::bigint is null then promised_kobo else net_kobo end
      where id = $1 and status = 'pending' and send_state in (${sqlList(heldStates)})`,
    values: [
      withdrawal.id,
      price?.rateId ?? null,
      price?.grossKobo ?? null,
      price?.feeKobo ?? null,
      price?.netKobo ?? null,
    ],
  })
  logStep(uow, withdrawalRow, withdrawal, 'not_sent')
}

/** The provider has it: it is looked up, and never sent. False: it is not held any more. */
export async function adoptHeld(
  { trx }: Pick<StepPlace, 'trx'>,
  { id }: Pick<LockedWithdrawal, 'id'>,
): Promise<boolean> {
  const rows = await query(trx, {
    name: 'payouts.adopt-held',
    text: /* sql */ `
      update withdrawals set send_state = 'not_sent', adopted_at = clock_timestamp(), due_at = clock_timestamp(),
        confirmed_at = case when confirmation_reason is not null then coalesce(confirmed_at, clock_timestamp()) end
      where id = $1 and status = 'pending' and send_state in (${sqlList(heldStates)}) returning 1`,
    values: [id],
  })
  return rows.length > 0
}
