import { ProviderError } from '../../kernel/provider-error.js'
import type { Collections, Payment } from '../../ports/collections.js'
import type { DueFiatIntent } from './intent-queue.js'

/** What the provider says of an intent, as far as it is news. */
export interface FetchedPayments {
  readonly failed: boolean
  /** Payments that are not booked yet, oldest first. */
  readonly payments: readonly Payment[]
}

/**
 * Asks the provider about an intent: one question while nothing new has been paid, a second one for every payment when
 * something has. The two must say the same of the newest payment; a list without any is none of them: the filter by
 * reference is not documented, and the documented look-up alone vouches then. Throws ProviderError, never a verdict.
 */
export async function fetchPayments(
  fiat: Collections,
  { reference, booked }: Pick<DueFiatIntent, 'reference' | 'booked'>,
): Promise<FetchedPayments> {
  const state = await fiat.lookUp(reference)
  if (state.status !== 'paid') return { failed: state.status === 'failed', payments: [] }
  const { newest } = state
  if (booked.includes(newest.transaction)) return { failed: false, payments: [] }
  const all = await fiat.payments(reference)
  if (all.length === 0) return { failed: false, payments: [newest] }
  const same = all.find(({ transaction }) => transaction === newest.transaction)
  if (same?.kobo !== newest.kobo)
    throw new ProviderError('ambiguous', 'the fiat provider contradicts itself about a payment')
  return { failed: false, payments: all.filter(({ transaction }) => !booked.includes(transaction)) }
}
