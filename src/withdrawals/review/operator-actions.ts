import { query } from '../../platform/database/database.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import type { ProviderTransfer } from '../../ports/payouts.js'
import { recreditPayout } from '../ledger-entries.js'
import type { ProviderRules } from '../reconcile/decide.js'
import { failUnpaid, type LockedWithdrawal, lockWithdrawal } from '../withdrawal.js'
import { payoutJob } from '../work-queue.js'
import { closeReviews, type ReviewKind, selfClosingKinds } from './review.js'
import { type ReleaseTerms, releaseHeld } from './verify-identity.js'

/** What an operator may do with one withdrawal. */
export type OperatorAction = 'replay' | 'release' | 'void' | 'recredit' | 'close'

/** `refused`: the reason why the action is not allowed now. `done`: what the action does, as a plan and as a report. */
export type Permission = { readonly refused: string } | { readonly done: string }

/** A withdrawal, and the provider's transfer of it. `found` undefined: the provider does not find one, or was not asked. */
export interface ReviewedWithdrawal {
  readonly withdrawal: LockedWithdrawal
  readonly found: ProviderTransfer | undefined
  readonly openReviews: readonly ReviewKind[]
}

const neverSent = new Set(['identity_hold', 'not_sent'])

/** Whether an action is allowed. Pure. */
export function checkAction(
  action: OperatorAction,
  reviewed: ReviewedWithdrawal,
  rules: ProviderRules,
): Permission {
  const { withdrawal, found, openReviews } = reviewed
  if (action === 'recredit') return checkRecredit(reviewed)
  if (action === 'close')
    return openReviews.length > 0
      ? { done: `close the open reviews: ${openReviews.join(', ')}` }
      : refused('it has no open review')
  if (withdrawal.status !== 'pending')
    return refused(
      `its status is ${withdrawal.status}, not pending${found ? `; the provider shows it ${found.state}` : ''}`,
    )
  if (found !== undefined)
    return refused(`the provider has it (${found.state}). Run: npm run ops -- payouts ask <reference>`)
  if (action === 'release')
    return withdrawal.sendState === 'identity_hold'
      ? { done: 'send it, without a verified identity' }
      : refused(`its send state is ${withdrawal.sendState}, not identity_hold`)
  return action === 'void' ? checkVoid(withdrawal, rules) : checkReplay(withdrawal, rules)
}

/**
 * It is safe to send a withdrawal that was certainly never sent. After a request that may have reached the provider it is safe
 * only if the provider documents that it refuses a used reference, and has had the time to show the transfer.
 */
function checkReplay({ sendState, sends, sinceSent }: LockedWithdrawal, rules: ProviderRules): Permission {
  if (sendState === 'identity_hold')
    return refused('it waits for the identity of its creator: use release or verify-identity')
  if (sendState === 'not_sent' && sends === 0) return { done: 'send it now; it was never sent before' }
  if (sendState === 'resend') return refused('it is about to be sent again already')
  if (sendState === 'sending')
    return refused('a request may be on its way now; the reconciler will ask the provider')
  if (!rules.deduplicates)
    return refused(
      'the money may have been sent, and the provider does not document that it refuses a used reference',
    )
  if ((sinceSent ?? 0) < rules.settleSeconds) return refused(tooRecent(rules))
  return { done: 'send it once more under the same reference; the provider refuses it if it has it already' }
}

/** The creator gets the money back only if it was never sent, or is in review and the provider had the time to show it. */
function checkVoid({ sendState, sinceSent, debitMicro }: LockedWithdrawal, rules: ProviderRules): Permission {
  const done = `fail it and give the creator ${debitMicro} micro-USDC back; it is never sent again`
  if (neverSent.has(sendState)) return { done }
  if (sendState !== 'manual_review')
    return refused(`its send state is ${sendState}: void needs identity_hold, not_sent or manual_review`)
  return (sinceSent ?? 0) < rules.settleSeconds ? refused(tooRecent(rules)) : { done }
}

function checkRecredit({ withdrawal, found, openReviews }: ReviewedWithdrawal): Permission {
  if (withdrawal.status !== 'completed') return refused(`its status is ${withdrawal.status}, not completed`)
  if (!openReviews.includes('reversed'))
    return refused('no review `reversed` is open: the money did not come back, or this was settled before')
  if (found?.state !== 'returned' && found?.state !== 'failed')
    return refused(
      `the provider ${found ? `shows it ${found.state}` : 'does not find it'}; recredit needs returned or failed`,
    )
  return { done: `credit the creator with ${withdrawal.debitMicro} micro-USDC again, once` }
}

function tooRecent({ settleSeconds }: ProviderRules): string {
  return `the provider may still show it later: wait until ${settleSeconds} s after the last request`
}

function refused(reason: string): Permission {
  return { refused: reason }
}

/** Applies an allowed action in the caller's transaction, which holds the withdrawal's lock. */
export async function applyAction(
  uow: UnitOfWork,
  action: OperatorAction,
  { withdrawal, openReviews }: ReviewedWithdrawal,
  reason: string,
  terms: ReleaseTerms,
): Promise<void> {
  const { id, reference, sends } = withdrawal
  if (action === 'release') await releaseHeld(uow, terms, id)
  if (action === 'replay') {
    await makeDueToSend(uow, withdrawal)
    uow.wake('payouts', payoutJob(reference, sends))
  }
  if (action === 'void') await failUnpaid(uow, withdrawal, 'The withdrawal was cancelled')
  if (action === 'recredit') await recreditPayout(uow.trx, withdrawal)
  const closed = closedBy(action, openReviews)
  if (closed.length > 0) await closeReviews(uow, id, closed, `${action}: ${reason}`)
}

/** The kinds of review that an action settles. */
function closedBy(action: OperatorAction, open: readonly ReviewKind[]): readonly ReviewKind[] {
  if (action === 'close') return open
  if (action === 'recredit') return ['reversed']
  return action === 'release' ? [] : selfClosingKinds
}

async function makeDueToSend({ trx }: UnitOfWork, { id, sendState }: LockedWithdrawal): Promise<void> {
  await query(trx, {
    name: 'payouts.replay',
    text: /* sql */ `
      update withdrawals set send_state = $2, due_at = clock_timestamp(), last_error = null
      where id = $1 and status = 'pending'`,
    values: [id, sendState === 'not_sent' ? 'not_sent' : 'resend'],
  })
}

/** Locks a withdrawal and reads its open reviews. Undefined: there is no such withdrawal. */
export async function lockForReview(
  uow: UnitOfWork,
  id: string,
  found: ProviderTransfer | undefined,
): Promise<ReviewedWithdrawal | undefined> {
  const withdrawal = await lockWithdrawal(uow, id)
  if (withdrawal === undefined) return undefined
  const rows = await query<{ kind: ReviewKind }>(uow.trx, {
    name: 'reviews.list-open',
    text: 'select kind from review_items where withdrawal_id = $1 and resolved_at is null order by id',
    values: [id],
  })
  return { withdrawal, found, openReviews: rows.map(({ kind }) => kind) }
}
