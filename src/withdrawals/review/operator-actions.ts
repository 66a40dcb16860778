import { decide, recreditableKinds, selfClosingKinds } from '../../outgoing/decide.js'
import { type Asked, requireUnsent } from '../../outgoing/guards.js'
import type { OutgoingKind } from '../../outgoing/kind.js'
import { heldStates } from '../../outgoing/lifecycle.js'
import { advanceTo, replay } from '../../outgoing/steps.js'
import { ageOf } from '../../platform/database/base-model.js'
import { query, write } from '../../platform/database/database.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import type { ProviderTransfer } from '../../ports/payouts.js'
import { type ReleaseSettings, releaseHeld } from '../confirmation/release.js'
import { recreditPayout } from '../ledger-entries.js'
import { mailCreator } from '../mails.js'
import { pricePaid } from '../price-withdrawal.js'
import { closeReviews, outdateReviews, Review, type ReviewKind, reopenReviews } from '../reviews.js'
import { releaseFromLimits } from '../send/hold-back.js'
import { type LockedWithdrawal, lockWithdrawal } from '../withdrawal.js'
import { adoptCommand, failUnpaid } from '../withdrawal-kind.js'
import {
  type ActionOptions,
  type ClosedReview,
  isInDebtReview,
  type OpenReview,
  type OperatorAction,
  type ReviewedWithdrawal,
} from './check-action.js'

/** Applies an allowed action in the caller's transaction, which holds the withdrawal's lock. */
export async function applyAction(
  uow: UnitOfWork,
  action: OperatorAction,
  reviewed: ReviewedWithdrawal,
  {
    kind,
    asked,
    settings,
    reason,
    paidKobo,
  }: ActionOptions & {
    readonly kind: OutgoingKind<LockedWithdrawal>
    readonly asked: Asked
    readonly settings: ReleaseSettings
    readonly reason: string
  },
): Promise<void> {
  const { withdrawal, found, openReviews, closedReviews } = reviewed
  const { id } = withdrawal
  if (action === 'release' && isHeld(withdrawal)) await releaseHeld(uow, settings, id, asked)
  else if (action === 'release') await releaseFromLimits(uow, withdrawal, isInDebtReview(reviewed))
  if (action === 'replay') await replay(uow, kind, withdrawal)
  if (action === 'void')
    await failUnpaid(uow, settings, withdrawal, { reason: 'The withdrawal was cancelled', asked })
  if (action === 'recredit') await recredit(uow, settings, withdrawal)
  if (action === 'resolve') await resolve(uow, kind, reviewed, paidKobo ?? 0n, asked)
  if (action === 'reopen')
    await reopenReviews(
      uow,
      closedReviews.map((review) => review.id),
    )
  const closed = closedBy(action, openReviews)
  if (closed.length > 0) await closeReviews(uow, id, closed, `${action}: ${reason}`)
  if (action === 'close') {
    // The provider agrees with us already, so what was closed does not stand for what it may show next.
    const decision = decide(withdrawal, found, kind.rules)
    if (decision.kind === 'agree') await outdateReviews(uow, id, decision.outdated, reason)
  }
}

/** It waits for a person, and is priced again at its release. Else it waits for the breaker, and keeps its price. */
export function isHeld({ sendState }: Pick<LockedWithdrawal, 'sendState'>): boolean {
  return heldStates.includes(sendState)
}

function closedBy(action: OperatorAction, open: readonly OpenReview[]): readonly ReviewKind[] {
  if (action === 'close') return open.map(({ kind }) => kind)
  if (action === 'recredit') return recreditableKinds
  if (action === 'release') return ['debt']
  return action === 'reopen' ? [] : selfClosingKinds
}

/** Paid again would be paid twice. */
async function recredit(
  uow: UnitOfWork,
  settings: ReleaseSettings,
  withdrawal: LockedWithdrawal,
): Promise<void> {
  await recreditPayout(uow.trx, withdrawal)
  await write(uow.trx, {
    name: 'payouts.recredited',
    text: /* sql */ `
      update withdrawals set recredited_at = coalesce(recredited_at, clock_timestamp())
      where id = $1 and status = 'completed'`,
    values: [withdrawal.id],
  })
  await watch(uow, withdrawal)
  await mailCreator(uow, settings, withdrawal, [{ kind: 'withdrawal-returned' }])
}

/** The creator has the money back of what the provider may still pay: it is asked again. */
async function watch(uow: UnitOfWork, { id }: LockedWithdrawal): Promise<void> {
  await write(uow.trx, {
    name: 'payouts.watch',
    text: 'update withdrawals set looks = 0, due_at = clock_timestamp() where id = $1',
    values: [id],
  })
  uow.wake('reconciler')
}

async function resolve(
  uow: UnitOfWork,
  kind: OutgoingKind<LockedWithdrawal>,
  { withdrawal, found }: ReviewedWithdrawal,
  paidKobo: bigint,
  asked: Asked,
): Promise<void> {
  // Another reference's id belongs to another withdrawal.
  const providerId = found?.reference === withdrawal.providerReference ? found.id : null
  const answer = { providerId, reason: null, feeKobo: found?.feeKobo ?? 0n }
  const paid = paidKobo === 0n ? undefined : pricePaid(withdrawal, paidKobo)
  await write(uow.trx, {
    name: 'payouts.resolve',
    text: /* sql */ `
      update withdrawals set due_at = null, paid_kobo = $2, paid_fee_kobo = $3, paid_debit_micro = $4 where id = $1`,
    values: [withdrawal.id, paid?.netKobo ?? null, paid?.feeKobo ?? null, paid?.debitMicro ?? null],
  })
  if (paid !== undefined) await advanceTo(uow, kind, { ...withdrawal, ...paid }, 'completed', answer)
  else {
    if (found === undefined)
      await requireUnsent(uow, kind.table, withdrawal.id, asked, adoptCommand(withdrawal))
    await advanceTo(uow, kind, withdrawal, 'failed', answer)
    if (found === undefined) await watch(uow, withdrawal)
  }
}

/**
 * Locks a withdrawal and reads its reviews. `askedAt`: when the provider was asked, by this process's clock. What it did not find
 * then says nothing about the time since. Undefined: there is no such withdrawal.
 */
export async function lockForReview(
  uow: UnitOfWork,
  id: string,
  found: ProviderTransfer | undefined,
  askedAt: number,
): Promise<ReviewedWithdrawal | undefined> {
  const locked = await lockWithdrawal(uow, id)
  if (locked === undefined) return undefined
  const { sinceSent } = locked
  const secondsAgo = (performance.now() - askedAt) / 1000
  const withdrawal = { ...locked, sinceSent: sinceSent === null ? null : sinceSent - secondsAgo }
  const openReviews = await Review.query(uow.trx)
    .select('kind', 'created_at', ageOf('created_at', 'ageSeconds'))
    .where({ withdrawal_id: id, resolved_at: null })
    .orderBy('id')
    .castTo<OpenReview[]>()
  const closedReviews = await query<ClosedReview>(uow.trx, {
    name: 'reviews.list-closed',
    text: /* sql */ `
      select id, kind from (
        select id, kind, resolved_at, max(resolved_at) over () as last from review_items r
        where withdrawal_id = $1 and resolution like 'close: %' and outdated_at is null and not exists (
          select from review_items o
          where o.withdrawal_id = r.withdrawal_id and o.kind = r.kind and o.resolved_at is null)) as closed
      where resolved_at = last order by id`,
    values: [id],
  })
  return { withdrawal, found, openReviews, closedReviews }
}
