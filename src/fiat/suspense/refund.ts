import type { Knex } from 'knex'
import { isRefundId } from '../../kernel/ids.js'
import { ProviderError } from '../../kernel/provider-error.js'
import { query } from '../../platform/database/database.js'
import { databaseIsKnown } from '../../platform/database/restore-guard.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import type { ProviderRefund, Refunds } from '../../ports/refunds.js'
import type { Services } from '../../services.js'
import { advanceSuspense } from '../lifecycle.js'
import {
  type RefundItem,
  resolveSuspense,
  type SuspenseResolution,
  type SuspenseVersion,
} from './suspense.js'

const hourMs = 3_600_000

/** For a process that only follows refunds: it cannot request one. */
export type RefundReader = Pick<Refunds, 'list' | 'listAll'>

/** The refunds of a payment. None is older than the payment; the hour allows for clocks that differ. */
export function listRefundsOf(
  refunds: RefundReader,
  { transaction, paidAt }: Pick<RefundItem, 'transaction' | 'paidAt'>,
): Promise<ProviderRefund[]> {
  return refunds.list(transaction, new Date(paidAt.getTime() - hourMs))
}

/** The refunds of an item's payment, without those of what the creator gives back: they are not of the part in suspense. */
export async function listSuspenseRefundsOf(
  refunds: RefundReader,
  item: Pick<RefundItem, 'transaction' | 'paidAt'>,
): Promise<ProviderRefund[]> {
  const all = await listRefundsOf(refunds, item)
  return all.filter(({ note }) => !isRefundId(note))
}

/** What the provider's list of refunds means for an item. */
export type RefundStep =
  /** The provider has the refund: follow it. */
  | { readonly kind: 'follow'; readonly refund: ProviderRefund }
  /** There is certainly no refund: request one. */
  | { readonly kind: 'request' }
  /** A request may be on its way, and the provider may still show it. */
  | { readonly kind: 'wait'; readonly seconds: number }
  /** The refund that was requested failed: the item waits again. */
  | { readonly kind: 'failed' }
  /** Only a person can decide. */
  | { readonly kind: 'refuse'; readonly reason: string }

/**
 * What to do next about a refund. Pure. A refund that did not fail is never requested again, whoever requested it. Unknown
 * is not failed: after a request without an answer the provider has `settleSeconds` to show it.
 */
export function decideRefund(
  item: Pick<RefundItem, 'state' | 'kobo' | 'sinceRefund' | 'refundsBefore'>,
  refunds: readonly ProviderRefund[],
  settleSeconds: number,
): RefundStep {
  const live = refunds.filter(({ state }) => state !== 'failed')
  const [refund, ...others] = live
  if (refund !== undefined && (others.length > 0 || refund.kobo !== item.kobo))
    return {
      kind: 'refuse',
      reason: 'the provider shows other refunds of this payment. Compare them by hand',
    }
  if (refund !== undefined) return { kind: 'follow', refund }
  if (item.state !== 'refunding') return { kind: 'request' }
  if (refunds.some(({ id }) => !item.refundsBefore.includes(id))) return { kind: 'failed' }
  const seconds = Math.ceil(settleSeconds - (item.sinceRefund ?? settleSeconds))
  return seconds > 0 ? { kind: 'wait', seconds } : { kind: 'request' }
}

/** Whether an item may be resolved by hand. */
export type ResolutionStep =
  | { readonly kind: 'resolve' }
  /** A refund may be on its way, and the provider may still show it. */
  | { readonly kind: 'wait'; readonly seconds: number }
  | { readonly kind: 'refuse'; readonly reason: string }

/**
 * Whether an item may be assigned or recorded as returned. Pure. Money of which the provider shows a refund is not assigned, and
 * while a refund is or may be under way nobody records another return: otherwise it would go out twice.
 */
export function decideResolution(
  as: SuspenseResolution['as'],
  item: Pick<RefundItem, 'transaction' | 'state' | 'kobo' | 'sinceRefund' | 'refundsBefore'>,
  refunds: readonly ProviderRefund[],
  settleSeconds: number,
): ResolutionStep {
  const { transaction, state } = item
  if (as === 'assigned' && state === 'refunding')
    return {
      kind: 'refuse',
      reason: `payment ${transaction} is being refunded; run --refund again to see how it stands`,
    }
  const live = refunds.filter((refund) => refund.state !== 'failed')
  const open = as === 'assigned' ? live[0] : live.find((refund) => refund.state !== 'paid')
  if (open !== undefined)
    return {
      kind: 'refuse',
      reason: `the provider shows the refund ${open.id} ${open.state} of payment ${transaction}; run --refund to follow it`,
    }
  if (live.length > 0 || state !== 'refunding') return { kind: 'resolve' }
  const step = decideRefund(item, refunds, settleSeconds)
  return step.kind === 'wait' ? step : { kind: 'resolve' }
}

/** Who asked for the refund, and why. */
export interface RefundOrder {
  readonly by: string
  readonly note: string
}

/** One whose refund may be under way is taken again to request it again. */
const taking = advanceSuspense('refunding', ['waiting', 'refunding'])

/**
 * Takes an item for a refund in the caller's transaction, which is committed before the provider is asked: from then on
 * nobody assigns it, and the settlement worker follows the refund. Returns the version of the taken item; undefined when
 * somebody else took or resolved it meanwhile.
 */
export async function takeForRefund(
  trx: Knex,
  { transaction, state, refundSentAt }: SuspenseVersion,
  known: readonly ProviderRefund[],
  { by, note }: RefundOrder,
): Promise<SuspenseVersion | undefined> {
  const [taken] = await query<SuspenseVersion>(trx, {
    name: 'suspense.take',
    text: /* sql */ `
      with taken as (
        update suspense_items set ${taking.set}, refund_by = $4, refund_note = $5, refunds_before = $6,
          refund_sent_at = clock_timestamp(), refund_answer = null
        where provider_transaction = $1 and ${databaseIsKnown} and ${taking.from} and state = $2 and refund_sent_at is not distinct from $3::timestamptz
        returning provider_transaction as transaction, state, refund_sent_at::text as "refundSentAt"
      ), watched as (
        update fiat_intents set woken_at = clock_timestamp(),
          due_at = least(due_at, greatest(clock_timestamp(), asked_at + interval '1 second'))
        where id = (select intent_id from fiat_payments join taken on provider_transaction = transaction))
      select * from taken`,
    values: [
      transaction,
      state,
      refundSentAt,
      by,
      note,
      known.filter(({ state: shown }) => shown === 'failed').map(({ id }) => id),
    ],
  })
  return taken
}

/** The result of one request or look at the provider. */
export type RefundOutcome =
  /** The provider has it; `done` when the money went back and the books say so. */
  | { readonly kind: 'followed'; readonly refund: ProviderRefund; readonly done: boolean }
  /** Certainly not refunded: the item waits again. `reason`: the provider's text. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** Not known. The item stays taken, and the next run asks the provider first. */
  | { readonly kind: 'unknown'; readonly reason: string }

/**
 * Requests the refund of a taken item. `before`: the state before it was taken, `refunding` when a request may have arrived
 * before.
 */
export async function requestRefund(
  services: Pick<Services, 'db' | 'transact'>,
  refunds: Refunds,
  item: Pick<RefundItem, 'kobo'> & SuspenseVersion,
  before: SuspenseVersion['state'],
): Promise<RefundOutcome> {
  const { transaction, kobo } = item
  try {
    const refund = await refunds.request({ transaction, kobo, note: `suspense ${transaction}` })
    return await followRefund(services, item, refund)
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    const reason = error.message
    // A refusal of a repeated request says nothing about the request before it.
    if (error.kind === 'ambiguous' || before === 'refunding') {
      await noteAnswer(services.db, item, reason)
      return { kind: 'unknown', reason }
    }
    return waitAgain(services.db, item, reason)
  }
}

/** Follows what the provider shows: the books move when the money went back; a failed refund lets the item wait again. */
export async function followRefund(
  { db, transact }: Pick<Services, 'db' | 'transact'>,
  item: SuspenseVersion,
  refund: ProviderRefund,
): Promise<RefundOutcome> {
  if (refund.state === 'failed') return waitAgain(db, item, refundFailed)
  if (refund.state === 'paid') await transact((uow) => resolveRefunded(uow, item.transaction))
  else await noteAnswer(db, item, `the provider shows the refund ${refund.id} ${refund.state}`)
  return { kind: 'followed', refund, done: refund.state === 'paid' }
}

export const refundFailed = 'the refund failed at the provider'

/** A refund that the provider shows as paid is a fact, whoever requested it and when. */
async function resolveRefunded({ trx }: UnitOfWork, transaction: string): Promise<void> {
  const [row] = await query<RefundOrder & SuspenseVersion>(trx, {
    name: 'suspense.refund-order',
    text: /* sql */ `
      select provider_transaction as transaction, state, refund_sent_at::text as "refundSentAt",
        refund_by as by, refund_note as note
      from suspense_items where provider_transaction = $1 and state = 'refunding' for update`,
    values: [transaction],
  })
  // Another run has followed it.
  if (row !== undefined) await resolveSuspense(trx, row, { as: 'returned', by: row.by, note: row.note })
}

const waiting = advanceSuspense('waiting')

/**
 * The refund certainly did not happen: the item can be refunded again, or assigned. Not when another request has begun since:
 * then nothing is known about that one.
 */
export async function waitAgain(
  db: Knex,
  { transaction, refundSentAt }: SuspenseVersion,
  reason: string,
): Promise<RefundOutcome> {
  const rows = await query(db, {
    name: 'suspense.wait-again',
    text: /* sql */ `
      update suspense_items set ${waiting.set}, refund_answer = left($2, 200)
      where provider_transaction = $1 and ${waiting.from} and refund_sent_at is not distinct from $3::timestamptz
      returning provider_transaction`,
    values: [transaction, reason, refundSentAt],
  })
  return rows.length > 0
    ? { kind: 'refused', reason }
    : { kind: 'unknown', reason: 'the refund was taken up by another run meanwhile' }
}

/** Notes what the provider said last about the newest request. */
export async function noteAnswer(
  db: Knex,
  { transaction, refundSentAt }: SuspenseVersion,
  reason: string,
): Promise<void> {
  await query(db, {
    name: 'suspense.note-answer',
    text: /* sql */ `
      update suspense_items set refund_answer = left($2, 200)
      where provider_transaction = $1 and state = 'refunding' and refund_sent_at is not distinct from $3::timestamptz`,
    values: [transaction, reason, refundSentAt],
  })
}
