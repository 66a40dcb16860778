import type { Knex } from 'knex'
import type { Config } from '../../platform/config/config.js'
import { databaseTime } from '../../platform/database/base-model.js'
import { query } from '../../platform/database/database.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import type { Account } from '../account.js'
import { User } from '../models.js'
import { notifyOwner } from '../owner-mails/notify-owner.js'
import { deleteRecoveryCodes, replaceRecoveryCodes } from './recovery-codes.js'

type Needs = Pick<Config, 'http' | 'dataKey'>
type Owner = Pick<Account, 'id' | 'email'>

/** What the owner's mails call a factor. Labels are left out: whoever adds a passkey chooses its label. */
export const factorNames = { totp: 'An authenticator app', passkey: 'A passkey' } as const

export interface FactorCounts {
  readonly passkeys: number
  readonly factors: number
  /** Of the oldest factor in force. */
  readonly oldest: Date | null
}

/** Locks the account, so that changes of its factors run one after another, and counts the factors in force. */
export async function lockFactors(trx: Knex.Transaction, userId: string): Promise<FactorCounts> {
  await User.query(trx).findById(userId).select('id').forNoKeyUpdate()
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
  { factor, isFirst }: { readonly factor: string; readonly isFirst: boolean },
): Promise<{ recoveryCodes?: string[] }> {
  await markChanged(uow.trx, owner.id)
  await notifyOwner(uow, config.http.publicUrl, owner, { kind: 'factor-added', factor })
  return isFirst ? { recoveryCodes: await replaceRecoveryCodes(uow.trx, config, owner.id) } : {}
}

/** Ends the removal of a factor. Recovery codes go with the last one. */
export async function recordRemoved(
  uow: UnitOfWork,
  config: Needs,
  owner: Owner,
  factor: string,
): Promise<void> {
  await endRemoval(uow.trx, owner.id)
  await notifyOwner(uow, config.http.publicUrl, owner, { kind: 'factor-removed', factor })
}

/** Removes every factor, for an operator, and mails the owner. Returns how many were in force. */
export async function removeAllFactors(uow: UnitOfWork, config: Needs, owner: Owner): Promise<number> {
  const removed = await removeFactorsSince(uow.trx, owner.id, null)
  const notice = { kind: 'factor-removed', factor: 'Every second factor' } as const
  if (removed > 0) await notifyOwner(uow, config.http.publicUrl, owner, notice)
  return removed
}

/**
 * Removes the second factors added since a time, or all of them. For whoever decides above the factors: the proof of the
 * mailbox, the undo of a change of e-mail, an operator. It mails nothing. Returns how many were in force.
 */
export async function removeFactorsSince(
  trx: Knex.Transaction,
  userId: string,
  since: Date | null,
): Promise<number> {
  await User.query(trx).findById(userId).select('id').forNoKeyUpdate()
  const [removed] = await query<{ count: number }>(trx, {
    name: 'factors.remove-since',
    text: /* sql */ `
      with apps as (
        delete from totp_factors where user_id = $1 and ($2::timestamptz is null or coalesce(confirmed_at, created_at) >= $2)
        returning confirmed_at),
      keys as (
        delete from passkeys where user_id = $1 and ($2::timestamptz is null or created_at >= $2) returning 1)
      select ((select count(*) from apps where confirmed_at is not null) + (select count(*) from keys))::int as count`,
    values: [userId, since],
  })
  const count = removed?.count ?? 0
  if (count > 0) await endRemoval(trx, userId)
  return count
}

async function endRemoval(trx: Knex.Transaction, userId: string): Promise<void> {
  await markChanged(trx, userId)
  if ((await countFactors(trx, userId)).factors === 0) await deleteRecoveryCodes(trx, userId)
}

async function markChanged(trx: Knex.Transaction, userId: string): Promise<void> {
  await User.query(trx).patch({ factorsChangedAt: databaseTime }).findById(userId)
}
