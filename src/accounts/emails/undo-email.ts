import type { Knex } from 'knex'
import { DomainError } from '../../kernel/errors.js'
import { query } from '../../platform/database/database.js'
import type { Services } from '../../services.js'
import { lockUser } from '../account.js'
import { voidFactors } from '../factors/change-factors.js'
import { User } from '../models.js'
import { removePayoutWallet } from '../payout-wallets/payout-wallet.js'
import { cautionHours } from '../protection.js'
import { mailResetLink } from '../secrets/reset-link.js'
import { findLink, useLink, voidSecrets } from '../secrets/secrets.js'
import { endSessions } from '../sessions/end-sessions.js'
import { forgetDevices, voidCredentials } from '../void-credentials.js'
import { takeAddress } from './take-address.js'

interface UndoneChange {
  readonly changedAt: Date
  /** Otherwise nothing of before the change is the owner's either. */
  readonly oldProven: boolean
  /** Factors and a payout wallet that were added later are not the owner's for sure: no such factor was old enough to confirm a withdrawal. */
  readonly factorsSince: Date
}

/**
 * Gives an account its old address back, also over later changes, and takes it from whoever changed it: sessions, password,
 * mailed codes and links, known devices, second factors and a payout wallet of the last days and API keys made since are void. The owner gets a
 * link for a new password. If the address was never proven before, all credentials are void. Works while the account is frozen,
 * and leaves it so. Throws `invalid_link`.
 */
export async function undoEmailChange(
  { config, db, transact }: Pick<Services, 'config' | 'db' | 'transact'>,
  token: string,
): Promise<void> {
  const { userId } = await findLink(db, 'email_undo', token)
  await transact(async (uow) => {
    const { trx } = uow
    await lockUser(trx, userId)
    const { email } = await useLink(trx, 'email_undo', token)
    if (email === null) throw new Error('The link has no address')
    const { changedAt, oldProven, factorsSince } = await undoChanges(trx, userId, email)
    await takeAddress(trx, config, userId, email)
    if (!oldProven) await voidCredentials(trx, userId)
    await User.query(trx).findById(userId).patch({ passwordHash: null })
    await endSessions(trx, userId)
    await voidFactors(trx, userId, factorsSince)
    await removePayoutWallet(trx, userId, factorsSince)
    await voidSecrets(trx, userId, ['password_reset', 'email_change'])
    await forgetDevices(trx, userId)
    // Links of earlier changes stay: they restore an earlier owner's address. Whoever changed the address got links that freeze.
    await voidSecrets(trx, userId, ['email_undo', 'not_me'], changedAt)
    await mailResetLink(uow, config.http.publicUrl, { id: userId, email })
  })
}

/**
 * Marks the change from this address and all later ones as undone. API keys made between a change and its undo do not count
 * (creators/api-keys.ts), so these rows are kept.
 */
async function undoChanges(trx: Knex.Transaction, userId: string, oldEmail: string): Promise<UndoneChange> {
  const [undone] = await query<UndoneChange>(trx, {
    name: 'emails.undo',
    text: /* sql */ `
      with first as (
        select changed_at, old_proven from email_changes
         where user_id = $1 and old_email = $2 and undone_at is null and undo_until > clock_timestamp()
         order by changed_at, id limit 1),
      undone as (
        update email_changes c set undone_at = clock_timestamp()
          from first where c.user_id = $1 and c.undone_at is null and c.changed_at >= first.changed_at)
      select changed_at as "changedAt", old_proven as "oldProven", changed_at - $3::int * interval '1 hour' as "factorsSince" from first`,
    values: [userId, oldEmail, cautionHours],
  })
  if (undone === undefined) throw new DomainError('invalid_link')
  return undone
}
