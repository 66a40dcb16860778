import type { Knex } from 'knex'
import { query } from '../../platform/database/database.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import { failUnpaid, lockWithdrawal } from '../withdrawal.js'
import { payoutJob } from '../work-queue.js'

/** A withdrawal that waits for its creator's identity. */
export interface HeldWithdrawal {
  readonly id: string
  readonly reference: string
  readonly netKobo: bigint
}

/** A creator's withdrawals that wait for the identity, oldest first. */
export function listHeld(db: Knex, userId: string): Promise<HeldWithdrawal[]> {
  return query<HeldWithdrawal>(db, {
    name: 'identity.held',
    text: /* sql */ `
      select id, reference, net_kobo as "netKobo" from withdrawals
      where user_id = $1 and status = 'pending' and send_state = 'identity_hold' order by created_at, id`,
    values: [userId],
  })
}

/**
 * Marks a creator as verified and releases the held withdrawals. Later withdrawals are not held. Returns the released ones.
 * A withdrawal that is created at the same time locks the user's row in share mode, so it either sees the mark or is
 * released here.
 */
export async function verifyIdentity(uow: UnitOfWork, userId: string): Promise<HeldWithdrawal[]> {
  await query(uow.trx, {
    name: 'identity.verify',
    text: /* sql */ `
      update users set identity_verified_at = coalesce(identity_verified_at, clock_timestamp()) where id = $1`,
    values: [userId],
  })
  const held = await listHeld(uow.trx, userId)
  const released: HeldWithdrawal[] = []
  for (const item of held) if (await releaseHeld(uow, item)) released.push(item)
  return released
}

/** Fails the held withdrawals and gives the money back. Returns them. */
export async function refuseIdentity(
  uow: UnitOfWork,
  userId: string,
  reason: string,
): Promise<HeldWithdrawal[]> {
  const refused: HeldWithdrawal[] = []
  for (const item of await listHeld(uow.trx, userId)) {
    const withdrawal = await lockWithdrawal(uow, item.id)
    if (withdrawal?.status !== 'pending' || withdrawal.sendState !== 'identity_hold') continue
    await failUnpaid(uow, withdrawal, reason)
    refused.push(item)
  }
  return refused
}

/** Releases a held withdrawal to be sent. False when it is not held any more. */
export async function releaseHeld(
  uow: UnitOfWork,
  { id, reference }: Pick<HeldWithdrawal, 'id' | 'reference'>,
): Promise<boolean> {
  const rows = await query(uow.trx, {
    name: 'identity.release',
    text: /* sql */ `
      update withdrawals set send_state = 'not_sent', due_at = clock_timestamp()
      where id = $1 and status = 'pending' and send_state = 'identity_hold' returning id`,
    values: [id],
  })
  if (rows.length > 0) uow.wake('payouts', payoutJob(reference, 0))
  return rows.length > 0
}
