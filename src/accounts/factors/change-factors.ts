import type { Knex } from 'knex'
import type { Config } from '../../platform/config/config.js'
import { databaseTime } from '../../platform/database/base-model.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import type { Services } from '../../services.js'
import type { Account } from '../account.js'
import { lockUserExceptSessions } from '../lock-user.js'
import { User } from '../models.js'
import { type AccountNotice, nothingToDo, notifyOwner } from '../notify-owner.js'
import { countFactors, type FactorCounts } from '../protection.js'
import { deleteRecoveryCodes, replaceRecoveryCodes } from './recovery-codes.js'
import { voidFactors } from './void-factors.js'

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
  return {
    kind,
    describe: (site) => ({
      subject: `${factor} was ${done} at ${site}`,
      lines: [`${factor} was ${done} ${where} your account at ${site}.`],
      facts: [[title, factor]],
      advice: [nothingToDo],
      security: true,
    }),
  }
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
