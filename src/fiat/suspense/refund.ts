import type { Knex } from 'knex'
import { ProviderError } from '../../kernel/provider-error.js'
import { query } from '../../platform/database/database.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import type { ProviderRefund, Refunds } from '../../ports/refunds.js'
import type { Services } from '../../services.js'
import { type RefundItem, resolveSuspense } from './suspense.js'

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

/** Who asked for the refund, and why. */
export interface RefundOrder {
  readonly by: string
  readonly note: string
}

/**
 * Takes an item for a refund in the caller's transaction, which is committed before the provider is asked: from then on
 * nobody assigns it. False when somebody else took or resolved it meanwhile.
 */
export async function takeForRefund(
  trx: Knex,
  { transaction, state, refundSentAt }: RefundItem,
  known: readonly ProviderRefund[],
  { by, note }: RefundOrder,
): Promise<boolean> {
  const rows = await query(trx, {
    name: 'suspense.take',
    text: /* sql */ `
      update suspense_items set state = 'refunding', refund_by = $4, refund_note = $5, refunds_before = $6,
        refund_sent_at = clock_timestamp(), refund_answer = null
      where provider_transaction = $1 and state = $2 and refund_sent_at is not distinct from $3
      returning provider_transaction`,
    values: [transaction, state, refundSentAt, by, note, known.map(({ id }) => id)],
  })
  return rows.length > 0
}

/** The result of one request or look at the provider. */
export type RefundOutcome =
  /** The provider has it; `done` when the money went back and the books say so. */
  | { readonly kind: 'followed'; readonly refund: ProviderRefund; readonly done: boolean }
  /** Certainly not refunded: the item waits again. `reason`: the provider's text. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** Not known. The item stays taken, and the next run asks the provider first. */
  | { readonly kind: 'unknown'; readonly reason: string }

/** Requests the refund of a taken item. `state`: before it was taken, `refunding` when a request may have arrived before. */
export async function requestRefund(
  services: Pick<Services, 'db' | 'transact'>,
  refunds: Refunds,
  item: Pick<RefundItem, 'transaction' | 'kobo' | 'state'>,
): Promise<RefundOutcome> {
  const { transaction, kobo, state } = item
  try {
    const refund = await refunds.request({ transaction, kobo, note: `suspense ${transaction}` })
    return await followRefund(services, item, refund)
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    const reason = error.message
    // A refusal of a repeated request says nothing about the request before it.
    if (error.kind === 'ambiguous' || state === 'refunding') {
      await noteAnswer(services.db, transaction, reason)
      return { kind: 'unknown', reason }
    }
    await waitAgain(services.db, transaction, reason)
    return { kind: 'refused', reason }
  }
}

/** Follows what the provider shows: the books move when the money went back; a failed refund lets the item wait again. */
export async function followRefund(
  { db, transact }: Pick<Services, 'db' | 'transact'>,
  { transaction }: Pick<RefundItem, 'transaction'>,
  refund: ProviderRefund,
): Promise<RefundOutcome> {
  if (refund.state === 'failed') {
    await waitAgain(db, transaction, refundFailed)
    return { kind: 'refused', reason: refundFailed }
  }
  if (refund.state === 'paid') await transact((uow) => resolveRefunded(uow, transaction))
  else await noteAnswer(db, transaction, `the provider shows the refund ${refund.id} ${refund.state}`)
  return { kind: 'followed', refund, done: refund.state === 'paid' }
}

export const refundFailed = 'the refund failed at the provider'

async function resolveRefunded({ trx }: UnitOfWork, transaction: string): Promise<void> {
  const [row] = await query<RefundOrder>(trx, {
    name: 'suspense.refund-order',
    text: /* sql */ `
      select refund_by as by, refund_note as note from suspense_items
      where provider_transaction = $1 and state = 'refunding' for update`,
    values: [transaction],
  })
  // Another run has followed it.
  if (row !== undefined) await resolveSuspense(trx, transaction, { as: 'returned', ...row })
}

/** The refund certainly did not happen: the item can be refunded again, or assigned. */
export async function waitAgain(db: Knex, transaction: string, reason: string): Promise<void> {
  await query(db, {
    name: 'suspense.wait-again',
    text: /* sql */ `
      update suspense_items set state = 'waiting', refund_answer = left($2, 200)
      where provider_transaction = $1 and state = 'refunding'`,
    values: [transaction, reason],
  })
}

async function noteAnswer(db: Knex, transaction: string, reason: string): Promise<void> {
  await query(db, {
    name: 'suspense.note-answer',
    text: /* sql */ `
      update suspense_items set refund_answer = left($2, 200)
      where provider_transaction = $1 and state = 'refunding'`,
    values: [transaction, reason],
  })
}
