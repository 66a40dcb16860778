import type { Knex } from 'knex'
import { DomainError } from '../kernel/errors.js'
import { hashSecret } from '../kernel/ids.js'
import { databaseTime } from '../platform/database/base-model.js'
import { query } from '../platform/database/database.js'
import type { UnitOfWork } from '../platform/database/transact.js'
import type { Services } from '../services.js'
import { lockUser } from './account.js'
import { voidFactors } from './factors/change-factors.js'
import { User } from './models.js'
import { type AccountNotice, notifyOwner } from './notify-owner.js'
import { removePayoutWallet } from './payout-wallets/payout-wallet.js'
import { cautionHours, readRecentChanges } from './protection.js'
import { mailResetLink } from './secrets/reset-link.js'
import { useLink, voidSecrets } from './secrets/secrets.js'
import { endSessions } from './sessions/end-sessions.js'
import { forgetDevices } from './void-credentials.js'

const hourMs = 3_600_000

/** What the account's row and its owner learn. */
export interface Freezing {
  readonly userId: string
  readonly publicUrl: string
}

/**
 * Freezes an account: ends its sessions and access tokens, forgets its devices, and tells the owner. From then on changes and
 * withdrawals are refused (sessions/auth.ts), nothing is sent, and API keys and webhooks that are young (`youngWhenFrozen`) stop.
 * Returns whether it was not frozen before; its sessions end either way.
 */
export async function freezeAccount(
  uow: UnitOfWork,
  { userId, publicUrl, reason }: Freezing & { readonly reason: string },
): Promise<boolean> {
  const frozen = await User.query(uow.trx)
    .patch({ frozenAt: databaseTime, frozenReason: reason })
    .where({ id: userId })
    .whereNull('frozen_at')
  await endSessions(uow.trx, userId)
  await forgetDevices(uow.trx, userId)
  if (frozen === 0) return false
  await notifyOwner(uow, publicUrl, userId, frozenNotice)
  return true
}

/**
 * Unfreezes an account. Whoever signed in meanwhile is signed out. Second factors and a payout wallet that were young when it was
 * frozen are removed: a thief may have added them, and they have aged since. The links in older mails that would freeze it again are void:
 * the owner has reported those events already. `voidPassword`: a thief may know it; the owner gets a link for a new one, at the
 * oldest address that can be restored. Returns since when what was made was young: the caller voids API keys and webhooks. Undefined: it is
 * not frozen.
 */
export async function unfreezeAccount(
  uow: UnitOfWork,
  { userId, publicUrl, voidPassword }: Freezing & { readonly voidPassword: boolean },
): Promise<Date | undefined> {
  const { frozenAt } = await lockUser(uow.trx, userId)
  if (frozenAt === null) return undefined
  await User.query(uow.trx).patch({ frozenAt: null, frozenReason: null }).findById(userId)
  await endSessions(uow.trx, userId)
  const since = new Date(frozenAt.getTime() - cautionHours * hourMs)
  await voidFactors(uow.trx, userId, since)
  await removePayoutWallet(uow.trx, userId, since)
  await voidSecrets(uow.trx, userId, ['not_me', 'password_reset', 'email_change'])
  await notifyOwner(uow, publicUrl, userId, unfrozenNotice(voidPassword))
  if (!voidPassword) return since
  await User.query(uow.trx).patch({ passwordHash: null }).findById(userId)
  const { moneyEmail } = await readRecentChanges(uow.trx, userId)
  await mailResetLink(uow, publicUrl, { id: userId, email: moneyEmail })
  return since
}

export const frozenNotice: AccountNotice = {
  kind: 'account-frozen',
  describe: (site) => ({
    subject: `Your account at ${site} is frozen`,
    lines: [
      `Your account at ${site} is frozen. Everybody is signed out, and nothing can be withdrawn or changed. Your money is safe, and tips still arrive.`,
    ],
    advice: [
      'Reply to this e-mail. We help you to see what happened, and unfreeze the account once we know that you are its owner.',
      'If somebody else may know the password of your mailbox, change that one first.',
    ],
    security: false,
  }),
}

export function unfrozenNotice(passwordVoid: boolean): AccountNotice {
  return {
    kind: 'account-unfrozen',
    describe: (site) => ({
      subject: `Your account at ${site} works again`,
      lines: [
        `Your account at ${site} is not frozen any more. Everybody is signed out.`,
        'Any recovery codes are removed, and so are any authenticator apps and passkeys that were added in the 72 hours before the freezing or since: somebody else may have added them. API keys made in that time are revoked, and webhooks added, changed to another address or turned on in it are turned off.',
      ],
      advice: [
        `${passwordVoid ? 'The old password does not work any more. Before you do anything else, set a new one with the link in our other e-mail' : 'Before you do anything else, set a new password in the settings'}, or choose "Forgot password?" where you sign in to ${site}. Take one that you use nowhere else. Then look through your bank accounts, API keys, webhooks, sites and passkeys in the settings, and remove what you do not know.`,
        'If that has removed yours, then add an authenticator app or a passkey again, make new recovery codes and API keys, and turn your webhooks on.',
        'If you did not talk to us about this, reply to this e-mail at once.',
      ],
      security: false,
    }),
  }
}

const reason = 'The owner pressed "This was not me"'

/**
 * Freezes the account for the token of a mailed link, without signing in. Throws `invalid_link`. A used link of an account
 * that is frozen is answered as the first time: a frightened owner presses twice.
 */
export async function freezeByLink(
  { config, transact, log }: Pick<Services, 'config' | 'transact' | 'log'>,
  token: string,
): Promise<void> {
  const frozenNow = await transact(async (uow) => {
    const userId = await useNotMeLink(uow.trx, token)
    if (userId === undefined) return undefined
    const isNews = await freezeAccount(uow, { userId, publicUrl: config.http.publicUrl, reason })
    return isNews ? userId : undefined
  })
  if (frozenNow !== undefined) log.warn({ userId: frozenNow }, 'an owner has frozen the account')
}

/** The account to freeze; undefined when this link has frozen it already. */
async function useNotMeLink(trx: Knex.Transaction, token: string): Promise<string | undefined> {
  try {
    return (await useLink(trx, 'not_me', token)).userId
  } catch (error) {
    if (error instanceof DomainError && (await hasFrozen(trx, token))) return undefined
    throw error
  }
}

async function hasFrozen(trx: Knex.Transaction, token: string): Promise<boolean> {
  const rows = await query(trx, {
    name: 'links.has-frozen',
    text: /* sql */ `
      select 1 from one_time_secrets l join users u on u.id = l.user_id
       where l.hash = $1 and l.purpose = 'not_me' and l.used_at is not null and u.frozen_at is not null`,
    values: [hashSecret(token)],
  })
  return rows.length > 0
}
