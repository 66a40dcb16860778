import { isRefundId } from '../kernel/ids.js'
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
 * The refunds of a payment that did not fail, without those of what its creator gives back: they are not of the part in suspense.
 * Whoever requested them, the payer gets this money.
 */
export async function listSuspenseRefunds(
  refunds: RefundReader,
  payment: RefundedPayment,
): Promise<ProviderRefund[]> {
  const all = await listRefundsOf(refunds, payment)
  return all.filter(({ note, state }) => state !== 'failed' && !isRefundId(note))
}
