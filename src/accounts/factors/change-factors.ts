import type { Knex } from 'knex'
import type { Config } from '../../platform/config/config.js'
import { databaseTime } from '../../platform/database/base-model.js'
import { query } from '../../platform/database/database.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import type { Account } from '../account.js'
import { lockUserExceptSessions } from '../lock-user.js'
import { User } from '../models.js'
import type { FactorName } from '../owner-mails/account-notices.js'
import { notifyOwner } from '../owner-mails/notify-owner.js'
import { deleteRecoveryCodes, replaceRecoveryCodes } from './recovery-codes.js'
import { voidFactors } from './void-factors.js'

type Needs = Pick<Config, 'http' | 'dataKeys'>
type Owner = Pick<Account, 'id' | 'email'>

/** What the owner's mails call a factor. */
export const factorNames = { totp: 'An authenticator app', passkey: 'A passkey' } as const

export interface FactorCounts {
  readonly passkeys: number
  readonly factors: number
  /** Of the oldest factor in force. */
  readonly oldest: Date | null
}

/** Locks the account, so that changes of its factors run one after another, and counts the factors in force. */
export async function lockFactors(trx: Knex.Transaction, userId: string): Promise<FactorCounts> {
  await lockUserExceptSessions(trx, userId)
  return countFactors(trx, userId)
}

export async function countFactors(db: Knex, userId: string): Promise<FactorCounts> {
  const [counts] = await query<FactorCounts>(db, {
    name: 'factors.counts',
    text: /* sql */ `
      select count(*) filter (where passkey)::int as passkeys, count(*)::int as factors, min(since) as oldest
        from (select false as passkey, confirmed_at as since
                from totp_factors where user_id = $1 and confirmed_at is not null
              union all
              select true, created_at from passkeys where user_id = $1) f`,
    values: [userId],
  })
  if (counts === undefined) throw new Error('The factors were not counted')
  return counts
}

/** Ends the adding of a factor. Returns recovery codes when it is the account's first. */
export async function recordAdded(
  uow: UnitOfWork,
  config: Needs,
  owner: Owner,
  { factor, isFirst }: { readonly factor: FactorName; readonly isFirst: boolean },
): Promise<{ recoveryCodes?: string[] }> {
  await markChanged(uow.trx, owner.id)
  await notifyOwner(uow, config.http.publicUrl, owner.id, { kind: 'factor-added', factor })
  return isFirst ? { recoveryCodes: await replaceRecoveryCodes(uow.trx, config, owner.id) } : {}
}

/** Ends the removal of a factor. Recovery codes go with the last one. */
export async function recordRemoved(
  uow: UnitOfWork,
  config: Needs,
  owner: Owner,
  factor: FactorName,
): Promise<void> {
  await markChanged(uow.trx, owner.id)
  if ((await countFactors(uow.trx, owner.id)).factors === 0) await deleteRecoveryCodes(uow.trx, owner.id)
  await notifyOwner(uow, config.http.publicUrl, owner.id, { kind: 'factor-removed', factor })
}

/** Removes every factor, for an operator, and mails the owner. Returns how many were in force. */
export async function removeAllFactors(uow: UnitOfWork, config: Needs, owner: Owner): Promise<number> {
  const removed = await voidFactors(uow.trx, owner.id)
  const notice = { kind: 'factor-removed', factor: 'Every second factor' } as const
  if (removed > 0) await notifyOwner(uow, config.http.publicUrl, owner.id, notice)
  return removed
}

async function markChanged(trx: Knex.Transaction, userId: string): Promise<void> {
  await User.query(trx).patch({ factorsChangedAt: databaseTime }).findById(userId)
}
