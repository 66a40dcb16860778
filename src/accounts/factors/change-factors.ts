import type { Knex } from 'knex'
import type { Config } from '../../platform/config/config.js'
import { databaseTime } from '../../platform/database/base-model.js'
import { query } from '../../platform/database/database.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import type { Services } from '../../services.js'
import { type Account, lockUserExceptSessions } from '../account.js'
import { User } from '../models.js'
import { type AccountNotice, notifyOwner, warning } from '../notify-owner.js'
import { countFactors, type FactorCounts } from '../protection.js'
import { deleteRecoveryCodes, replaceRecoveryCodes } from './recovery-codes.js'

type Needs = Pick<Config, 'http' | 'dataKeys'>
type Owner = Pick<Account, 'id' | 'email'>

/** What the owner's mails call a factor. Labels are left out: whoever adds a passkey chooses its label. */
export const factorNames = {
  totp: 'An authenticator app',
  passkey: 'A passkey',
  recovery: 'A new set of recovery codes',
  every: 'Every second factor',
} as const
type FactorName = (typeof factorNames)[keyof typeof factorNames]

export function factorNotice(kind: 'factor-added' | 'factor-removed', factor: FactorName): AccountNotice {
  const [title, done, where] =
    kind === 'factor-added' ? (['Added', 'added', 'to'] as const) : (['Removed', 'removed', 'from'] as const)
  return warning(kind, (site) => ({
    subject: `${factor} was ${done} at ${site}`,
    lines: [`${factor} was ${done} ${where} your account at ${site}.`],
    facts: [[title, factor]],
  }))
}

/** Locks the account, so that changes of its factors run one after another, and counts the factors in force. */
export async function lockFactors(trx: Knex.Transaction, userId: string): Promise<FactorCounts> {
  await lockUserExceptSessions(trx, userId)
  return countFactors(trx, userId)
}

/** Ends the adding of a factor. Returns recovery codes when it is the account's first. */
export async function recordAdded(
  uow: UnitOfWork,
  config: Needs,
  owner: Owner,
  { factor, isFirst }: { readonly factor: FactorName; readonly isFirst: boolean },
): Promise<{ recoveryCodes?: string[] }> {
  await markChanged(uow.trx, owner.id)
  await notifyOwner(uow, config.http.publicUrl, owner.id, factorNotice('factor-added', factor))
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
  await notifyOwner(uow, config.http.publicUrl, owner.id, factorNotice('factor-removed', factor))
}

/** Makes new codes and mails their owner. */
export function renewRecoveryCodes(
  { config, transact }: Pick<Services, 'config' | 'transact'>,
  owner: Owner,
): Promise<string[]> {
  return transact(async (uow) => {
    const notice = factorNotice('factor-added', factorNames.recovery)
    await notifyOwner(uow, config.http.publicUrl, owner.id, notice)
    return replaceRecoveryCodes(uow.trx, config, owner.id)
  })
}

/** Removes every factor, for an operator, and mails the owner. Returns how many were in force. */
export async function removeAllFactors(uow: UnitOfWork, config: Needs, owner: Owner): Promise<number> {
  const removed = await voidFactors(uow.trx, owner.id)
  const notice = factorNotice('factor-removed', factorNames.every)
  if (removed > 0) await notifyOwner(uow, config.http.publicUrl, owner.id, notice)
  return removed
}

async function markChanged(trx: Knex.Transaction, userId: string): Promise<void> {
  await User.query(trx).patch({ factorsChangedAt: databaseTime }).findById(userId)
}

/**
 * Removes the second factors that were added at `since` or later: all, if it is not given. For whoever decides above the factors:
 * the proof of the mailbox, the undo of a change of e-mail, an operator. Recovery codes always go: they do not tell when they were
 * made. It mails nothing. Returns how many factors in force were removed.
 */
export async function voidFactors(trx: Knex.Transaction, userId: string, since?: Date): Promise<number> {
  const [removed] = await query<{ count: number }>(trx, {
    name: 'factors.void',
    text: /* sql */ `
      with totp as (
        delete from totp_factors
         where user_id = $1 and greatest(created_at, confirmed_at) >= coalesce($2::timestamptz, '-infinity')
        returning confirmed_at),
      keys as (
        delete from passkeys where user_id = $1 and created_at >= coalesce($2::timestamptz, '-infinity') returning 1),
      codes as (delete from recovery_codes where user_id = $1),
      changed as (
        update users set factors_changed_at = clock_timestamp()
         where id = $1 and (exists (select from totp) or exists (select from keys)))
      select ((select count(*) from totp where confirmed_at is not null) + (select count(*) from keys))::int as count`,
    values: [userId, since ?? null],
  })
  return removed?.count ?? 0
}
