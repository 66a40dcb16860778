import { ProviderError } from '../../kernel/provider-error.js'
import type { Collections, Payment } from '../../ports/collections.js'
import type { DueFiatIntent } from './intent-queue.js'

/** What is new at the provider about an intent. */
export interface FetchedPayments {
  readonly failed: boolean
  /** Payments that are not recorded yet, oldest first. */
  readonly payments: readonly Payment[]
}

/**
 * Asks the provider about an intent. One request shows whether there is a new payment, here or gone again; if so, a second one lists
 * all payments. The two must agree on the newest payment. An empty list proves nothing, because the provider's filter by reference is
 * undocumented; then the first answer counts. Throws ProviderError when there is no usable answer.
 */
export async function fetchPayments(
  collections: Collections,
  { reference, recorded }: Pick<DueFiatIntent, 'reference' | 'recorded'>,
): Promise<FetchedPayments> {
  const state = await collections.findCharge(reference)
  if (state.status !== 'paid' && state.status !== 'reversed')
    return { failed: state.status === 'failed', payments: [] }
  const { newest } = state
  if (recorded.includes(newest.transaction)) return { failed: false, payments: [] }
  const all = await collections.listPayments(reference)
  // What is gone again is not credited.
  const isNew = ({ transaction, reversed }: Payment) =>
    !reversed && !recorded.includes(transaction) && !(newest.reversed && transaction === newest.transaction)
  if (all.length === 0) return { failed: false, payments: [newest].filter(isNew) }
  const listed = all.find(({ transaction }) => transaction === newest.transaction)
  if (listed?.kobo !== newest.kobo)
    throw new ProviderError('ambiguous', 'the fiat provider contradicts itself about a payment')
  return { failed: false, payments: all.filter(isNew) }
}
