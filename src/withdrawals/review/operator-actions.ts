import { query } from '../../platform/database/database.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import type { ProviderTransfer } from '../../ports/payouts.js'
import { recreditPayout } from '../ledger-entries.js'
import type { ProviderRules } from '../reconcile/decide.js'
import { payoutJob } from '../reconcile/reconcile-payouts.js'
import { failUnpaid, type LockedWithdrawal, lockWithdrawal } from '../transitions.js'
import { closeReviews, type ReviewKind, selfClosingKinds } from './review.js'
import { releaseHeld } from './verify-identity.js'

/** What an operator may do by hand with one withdrawal. */
export type OperatorAction = 'replay' | 'release' | 'void' | 'recredit' | 'close'

/** `refused`: why it may not be done as things are; `done` tells what is done, or would be. */
export type Permission = { readonly refused: string } | { readonly done: string }

/** What was known when the provider was asked; `found` undefined: it finds no such transfer. */
export interface ReviewedWithdrawal {
  readonly withdrawal: LockedWithdrawal
  readonly found: ProviderTransfer | undefined
  readonly openReviews: readonly ReviewKind[]
}

const neverSent = new Set(['identity_hold', 'not_sent'])

/** Whether a deed may be done. Pure: the same question is asked for the plan, and again under the lock. */
export function checkAction(
  deed: OperatorAction,
  looked: ReviewedWithdrawal,
  rules: ProviderRules,
): Permission {
  const { withdrawal, found, openReviews } = looked
  if (deed === 'recredit') return permitRecredit(looked)
  if (deed === 'close')
    return openReviews.length > 0
      ? { done: `close what is open: ${openReviews.join(', ')}` }
      : refused('nothing is open')
  if (withdrawal.status !== 'pending')
    return refused(`it is ${withdrawal.status}${found ? `; the provider shows it ${found.state}` : ''}`)
  if (found !== undefined) return refused(`the provider has it (${found.state}): ask moves it there`)
  if (deed === 'release')
    return withdrawal.sendState === 'identity_hold'
      ? { done: 'send it, although nobody verified who it is for' }
      : refused(`it is not held but ${withdrawal.sendState}`)
  return deed === 'void' ? permitVoid(withdrawal, rules) : permitReplay(withdrawal, rules)
}

/**
 * Sending again is safe for what surely never left, and otherwise only where the provider documents that it refuses a used
 * reference and has had the time to show what it took.
 */
function permitReplay({ sendState, sends, sinceSent }: LockedWithdrawal, rules: ProviderRules): Permission {
  if (sendState === 'identity_hold') return refused('it waits for an identity: release or verify-identity')
  if (sendState === 'not_sent' && sends === 0) return { done: 'send it now: it never left' }
  if (sendState === 'resend') return refused('it is being sent again already')
  if (sendState === 'sending') return refused('a request may be on its way; the reconciler asks about it')
  if (!rules.deduplicates)
    return refused('it may have left, and the provider does not document that it refuses a used reference')
  if ((sinceSent ?? 0) < rules.settleSeconds) return refused(tooYoung(rules))
  return { done: 'send it once more under the same reference, which the provider refuses if it has it' }
}

/** Money goes back to the creator only when it surely stays here: never sent, or looked for long enough by a person. */
function permitVoid(
  { sendState, sinceSent, debitMicro }: LockedWithdrawal,
  rules: ProviderRules,
): Permission {
  const done = `give the creator ${debitMicro} micro-USDC back; it is never sent again`
  if (neverSent.has(sendState)) return { done }
  if (sendState !== 'manual_review')
    return refused(`it is ${sendState}: only what was never sent or is in manual_review`)
  return (sinceSent ?? 0) < rules.settleSeconds ? refused(tooYoung(rules)) : { done }
}

function permitRecredit({ withdrawal, found, openReviews }: ReviewedWithdrawal): Permission {
  if (withdrawal.status !== 'completed') return refused(`it is ${withdrawal.status}, not completed`)
  if (!openReviews.includes('reversed'))
    return refused('no reversal is open: none was seen, or it was dealt with')
  if (found?.state !== 'returned' && found?.state !== 'failed')
    return refused(`the provider shows it ${found?.state ?? 'nowhere'}, not returned`)
  return { done: `credit the creator ${withdrawal.debitMicro} micro-USDC again, once` }
}

function tooYoung({ settleSeconds }: ProviderRules): string {
  return `it may still turn up at the provider: ${settleSeconds} s after the last request at the earliest`
}

function refused(why: string): Permission {
  return { refused: why }
}

/** Does a permitted deed in the caller's transaction, which holds the withdrawal's lock. */
export async function applyAction(
  uow: UnitOfWork,
  deed: OperatorAction,
  { withdrawal, openReviews }: ReviewedWithdrawal,
  reason: string,
): Promise<void> {
  const { id, reference, sends } = withdrawal
  if (deed === 'release') await releaseHeld(uow, withdrawal)
  if (deed === 'replay') {
    await sendAgain(uow, withdrawal)
    uow.wake('payouts', payoutJob(reference, sends))
  }
  if (deed === 'void') await failUnpaid(uow, withdrawal, 'The withdrawal was cancelled')
  if (deed === 'recredit') await recreditPayout(uow.trx, withdrawal)
  const settled = settledBy(deed, openReviews)
  if (settled.length > 0) await closeReviews(uow, id, settled, `${deed}: ${reason}`)
}

function settledBy(deed: OperatorAction, open: readonly ReviewKind[]): readonly ReviewKind[] {
  if (deed === 'close') return open
  if (deed === 'recredit') return ['reversed']
  return deed === 'release' ? [] : selfClosingKinds
}

async function sendAgain({ trx }: UnitOfWork, { id, sendState }: LockedWithdrawal): Promise<void> {
  await query(trx, {
    name: 'payouts.replay',
    text: /* sql */ `
      update withdrawals set send_state = $2, due_at = clock_timestamp(), last_error = null
      where id = $1 and status = 'pending'`,
    values: [id, sendState === 'not_sent' ? 'not_sent' : 'resend'],
  })
}

/** The withdrawal under its lock, with what was found outside before. Undefined: there is none. */
export async function lockForReview(
  uow: UnitOfWork,
  id: string,
  found: ProviderTransfer | undefined,
): Promise<ReviewedWithdrawal | undefined> {
  const withdrawal = await lockWithdrawal(uow, id)
  if (withdrawal === undefined) return undefined
  const rows = await query<{ kind: ReviewKind }>(uow.trx, {
    name: 'reviews.of',
    text: 'select kind from review_items where withdrawal_id = $1 and resolved_at is null order by id',
    values: [id],
  })
  return { withdrawal, found, openReviews: rows.map(({ kind }) => kind) }
}
