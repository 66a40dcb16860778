import type { Payment } from '../../ports/collections.js'

/** Why money waits for an operator. */
export type SuspenseReason = 'underpaid' | 'overpaid' | 'paid_again'

/** What becomes of a payment. Amounts in kobo. */
export interface Classification {
  /** It pays the charge: the creator is credited. */
  readonly credits: boolean
  readonly suspense: { readonly kobo: bigint; readonly reason: SuspenseReason } | undefined
}

/**
 * What becomes of a payment (decisions of the product): the first one of at least the charge credits, whenever it comes,
 * and what exceeds the charge waits for an operator; so does less than the charge, and every further payment.
 */
export function classifyPayment(
  { kobo }: Pick<Payment, 'kobo'>,
  chargeKobo: bigint,
  completed: boolean,
): Classification {
  if (completed) return { credits: false, suspense: { kobo, reason: 'paid_again' } }
  if (kobo < chargeKobo) return { credits: false, suspense: { kobo, reason: 'underpaid' } }
  const surplus = kobo - chargeKobo
  return {
    credits: true,
    suspense: surplus === 0n ? undefined : { kobo: surplus, reason: 'overpaid' },
  }
}
