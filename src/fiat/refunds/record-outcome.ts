import type { Knex } from 'knex'
import { query } from '../../platform/database/database.js'
import { runsLockedSql } from '../../platform/database/switches/switches.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import type { ProviderRefund } from '../../ports/refunds.js'
import type { Services } from '../../services.js'
import { showRefunded } from '../../tips/fiat-tip.js'
import { holdDisputed } from '../disputes/record-dispute.js'
import { goneCents } from '../gone-payments.js'
import { advanceRefund, followedStates, type TipRefundState } from '../lifecycle.js'
import { lockIntent } from '../settlement/lock-intent.js'
import { mailPayer, mailRefund } from './mails.js'
import { postRefund, refundColumns, type TipRefund, voidRefund } from './refund.js'

type Needs = Pick<Services, 'db' | 'transact' | 'config'>

/** The account of a refund is not frozen, as SQL: nothing of a frozen one is sent. */
export const notFrozen = '(select f.frozen_at from users f where f.id = user_id) is null'

const sending = advanceRefund('sending', ['not_sent'])

/**
 * Records that the request is about to be sent, before its first byte is. Committed on return: the time at which it began.
 * Undefined: this worker may not send it any more.
 */
export async function recordSending(
  db: Knex,
  { id, attempts }: TipRefund,
  leaseSeconds: number,
): Promise<Date | undefined> {
  const [row] = await query<{ sentAt: Date }>(db, {
    name: 'refunds.sending',
    text: /* sql */ `
      update refunds set ${sending.set}, sent_at = clock_timestamp(), sends = sends + 1, last_error = null,
        due_at = clock_timestamp() + $3::float8 * interval '1 second'
      where ${runsLockedSql('payouts')} and id = $1 and ${sending.from} and attempts = $2 and ${notFrozen}
      returning sent_at as "sentAt"`,
    values: [id, attempts, leaseSeconds],
  })
  return row?.sentAt
}

const unsent = advanceRefund('not_sent', ['sending'])

/** The request that began then certainly did not reach the provider: it is sent later. */
export async function recordUnsent(
  db: Knex,
  id: string,
  { sentAt, reason, pauseSeconds }: { sentAt: Date; reason: string; pauseSeconds: number },
): Promise<void> {
  await query(db, {
    name: 'refunds.unsent',
    text: /* sql */ `
      update refunds set ${unsent.set}, sends = sends - 1, last_error = left($3, 200),
        due_at = clock_timestamp() + $4::float8 * interval '1 second'
      where id = $1 and ${unsent.from} and sent_at = $2`,
    values: [id, sentAt, reason, pauseSeconds],
  })
}

/** Notes why a refund is not done, and when the provider is asked next. Its state stays. */
export async function recordPause(
  db: Knex,
  { id }: Pick<TipRefund, 'id'>,
  reason: string | null,
  pauseSeconds: number,
): Promise<void> {
  await query(db, {
    name: 'refunds.pause',
    text: /* sql */ `
      update refunds set last_error = left($2, 200), due_at = clock_timestamp() + $3::float8 * interval '1 second'
      where id = $1 and ended_at is null`,
    values: [id, reason, pauseSeconds],
  })
}

/** The provider has the refund and is not done with it. */
export async function recordShown(
  db: Knex,
  { id }: Pick<TipRefund, 'id'>,
  shown: ProviderRefund,
  { reason, pauseSeconds }: { readonly reason: string | null; readonly pauseSeconds: number },
): Promise<void> {
  const state = shown.state === 'attention' ? 'attention' : 'sent'
  const step = advanceRefund(state, followedStates)
  await query(db, {
    name: `refunds.shown-${state}`,
    text: /* sql */ `
      update refunds set ${step.set}, provider_id = $2, last_error = $3,
        due_at = clock_timestamp() + $4::float8 * interval '1 second'
      where id = $1 and ${step.from}`,
    values: [id, shown.id, reason, pauseSeconds],
  })
}

/** Locks a refund that has not ended, then its tip. Undefined: it has ended, or is in another state than these. */
async function lockRefund(
  { trx }: UnitOfWork,
  id: string,
  from: readonly TipRefundState[],
): Promise<TipRefund | undefined> {
  const [row] = await query<TipRefund>(trx, {
    name: 'refunds.lock',
    text: `select ${refundColumns} from refunds t where t.id = $1 and t.state = any($2::text[]) for no key update`,
    values: [id, from],
  })
  return row
}

const paid = advanceRefund('paid')

/** The payer has the money. False: it had ended before, or was sent again. In the caller's transaction. */
export async function endPaid(
  uow: UnitOfWork,
  { config }: Pick<Needs, 'config'>,
  id: string,
  { providerId, sentAt }: { readonly providerId: string | null; readonly sentAt?: Date | null },
): Promise<boolean> {
  const { trx } = uow
  const refund = await lockRefund(uow, id, followedStates)
  if (refund === undefined || !isOfSending(refund, sentAt)) return false
  const intent = await lockIntent(trx, refund.intentId)
  await postRefund(trx, refund)
  await query(trx, {
    name: 'refunds.paid',
    text: /* sql */ `
      update refunds set ${paid.set}, provider_id = coalesce($2, provider_id), ended_at = clock_timestamp(), due_at = null,
        last_error = null
      where id = $1 and ${paid.from}`,
    values: [id, providerId],
  })
  await mailRefund(uow, config, [refund], 'paid')
  await mailPayer(uow, intent, refund)
  uow.log({ refund: id, tip: intent.id, requestId: intent.requestId }, 'a refund reached the payer')
  return true
}

const failed = advanceRefund('failed')

/** The creator reads it. */
export const notReturned = 'The money could not be returned to the payer'

/** What ended a refund without the payer's having the money. */
export interface RefundFailure {
  /** The creator reads it. */
  readonly reason: string
  readonly from: readonly TipRefundState[]
  /** Only while its last request is the one that began then. Undefined: whichever it is. */
  readonly sentAt?: Date | null
  /** Only when it was requested once. */
  readonly once?: boolean
}

/** The payer certainly has not got the money: the creator has it again. False: it was not so any more. In the caller's transaction. */
export async function endFailed(
  uow: UnitOfWork,
  { config }: Pick<Needs, 'config'>,
  id: string,
  { reason, from, sentAt, once = false }: RefundFailure,
): Promise<boolean> {
  const { trx } = uow
  const refund = await lockRefund(uow, id, from)
  if (refund === undefined || !isOfSending(refund, sentAt)) return false
  if (once && refund.sends > 1) return false
  const { id: tip, requestId } = await lockIntent(trx, refund.intentId)
  await voidRefund(trx, refund)
  const failureReason = reason.slice(0, 200)
  await query(trx, {
    name: 'refunds.failed',
    text: /* sql */ `
      update refunds set ${failed.set}, failure_reason = $2, ended_at = clock_timestamp(), due_at = null, last_error = null
      where id = $1 and ${failed.from}`,
    values: [id, failureReason],
  })
  await holdDisputed(trx, refund.transaction)
  await showRefunded(trx, refund.intentId, await goneCents(trx, refund.intentId))
  await mailRefund(uow, config, [{ ...refund, failureReason }], 'failed')
  uow.log(
    { refund: id, tip, requestId, reason: failureReason },
    'a refund failed, and the creator has the money again',
  )
  return true
}

function isOfSending(refund: TipRefund, sentAt: Date | null | undefined): boolean {
  return sentAt === undefined || refund.sentAt?.getTime() === sentAt?.getTime()
}
