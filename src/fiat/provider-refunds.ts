import type { Knex } from 'knex'
import { isRefundId } from '../kernel/ids.js'
import { query } from '../platform/database/database.js'
import type { ProviderRefund, Refunds } from '../ports/refunds.js'

const hourMs = 3_600_000

/** For a process that only follows refunds: it cannot request one. */
export type RefundReader = Pick<Refunds, 'list' | 'listAll'>

/** A payment of which something may go back. */
interface RefundedPayment {
  /** The provider's id of the payment. */
  readonly transaction: string
  readonly paidAt: Date
}

/** The refunds of a payment. None is older than the payment; the hour allows for clocks that differ. */
export function listRefundsOf(
  refunds: RefundReader,
  { transaction, paidAt }: RefundedPayment,
): Promise<ProviderRefund[]> {
  return refunds.list(transaction, new Date(paidAt.getTime() - hourMs))
}

/**
 * The refunds of a payment that may be of what waits of it in suspense. Not those that failed, of what its creator gives back, that a
 * dispute made, or whose naira have left suspense already. Whoever requested them, the payer gets this money.
 */
export async function listSuspenseRefunds(
  db: Knex,
  refunds: RefundReader,
  payment: RefundedPayment,
): Promise<ProviderRefund[]> {
  const all = await listRefundsOf(refunds, payment)
  const live = all.filter(
    ({ note, state, dispute }) => state !== 'failed' && dispute === null && !isRefundId(note),
  )
  if (live.length === 0) return []
  const rows = await query<{ id: string }>(db, {
    name: 'suspense.booked-refunds',
    text: /* sql */ `
      select r.id from unnest($1::text[], $2::text[]) r (id, note)
      where exists (select from payment_returns p where p.id = 'refund:' || r.id and p.restored_at is null)
        or exists (select from refunds o where (o.provider_id = r.id or o.id = r.note) and o.status = 'completed')`,
    values: [live.map(({ id }) => id), live.map(({ note }) => note)],
  })
  const booked = new Set(rows.map(({ id }) => id))
  return live.filter(({ id }) => !booked.has(id))
}
