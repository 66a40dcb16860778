import { forgetAccount, lockForClosing } from '../accounts/forget-account.js'
import { readRecentChanges } from '../accounts/protection.js'
import { forgetApiKeys } from '../creators/api-keys.js'
import { forgetSites } from '../creators/sites.js'
import { forgetEvents } from '../events/read-events.js'
import { DomainError } from '../kernel/errors.js'
import { forgetEmails, queueEmail } from '../mail/queue-email.js'
import { forgetOverlay } from '../overlay/overlay.js'
import type { UnitOfWork } from '../platform/database/transact.js'
import { forgetPage } from '../public-page/page.js'
import { forgetSdkSessions } from '../sdk/sessions/session.js'
import { stopTipMails } from '../tips/mails/choose-tip-mails.js'
import type { TokenBalance } from '../tips/read/creator-schemas.js'
import { forgetWebhooks } from '../webhooks/manage-endpoints.js'
import { forgetPayees } from '../withdrawals/confirmation/payees.js'
import { forgetExport } from './exports/request-export.js'
import { findMoney } from './held-money.js'

/**
 * Closes an account in the caller's transaction: who it was is deleted or replaced, the ledger, tips and withdrawals stay
 * (docs/decisions/0059). A tip that arrives later is credited to the closed account, where operators see it. Throws
 * `account_has_money`, and `recently_changed` while the owner of the mailbox before could still take the account back.
 */
export async function closeAccount(uow: UnitOfWork, publicUrl: string, userId: string): Promise<void> {
  const { trx } = uow
  const email = await lockForClosing(trx, userId)
  const { changed } = await readRecentChanges(trx, userId)
  if (changed) throw new DomainError('recently_changed')
  const money = await findMoney(trx, userId)
  if (money.length > 0) throw new DomainError('account_has_money', undefined, money)
  await forgetEmails(trx, email)
  await forgetSdkSessions(trx, userId)
  await forgetApiKeys(trx, userId)
  await forgetSites(trx, userId)
  await forgetPage(trx, userId)
  await forgetWebhooks(trx, userId)
  await forgetOverlay(trx, userId)
  await stopTipMails(trx, userId)
  await forgetPayees(trx, userId)
  await forgetExport(trx, userId)
  await forgetEvents(trx, userId)
  await forgetAccount(trx, userId)
  const site = new URL(publicUrl).host
  await queueEmail(uow, {
    kind: 'account-closed',
    to: email,
    subject: `Your account at ${site} is closed`,
    blocks: [
      `Your account at ${site} is closed. Your name, your handles and what else was stored about you are deleted; what the law has us keep about payments stays, without your name.`,
      'You can register again with this e-mail address at any time. If it was not you who closed the account, reply to this e-mail at once.',
    ],
  })
}

/**
 * Refuses while the wallet holds tokens that no withdrawal reaches: nobody could ask for them later. `mayLeave`: the owner has
 * proven more than a password, and may leave them.
 */
export function assertNoTokens(tokens: readonly TokenBalance[], mayLeave: boolean): void {
  if (tokens.length === 0) return
  const amounts = tokens.map(({ symbol, amount }) => `${amount} ${symbol}`).join(', ')
  const otherwise = mayLeave
    ? 'send leaveTokens: true to leave them behind'
    : 'have the operator close the account: a password alone does not leave them behind'
  const problem = `${amounts} are in the wallet; ask the operator of the service for them, or ${otherwise}`
  throw new DomainError('account_has_money', undefined, [{ field: 'leaveTokens', problem }])
}
