import { makeReturnsDue } from '../../fiat/disputes/returns-queue.js'
import { makeRefundsDue } from '../../fiat/refunds/refund.js'
import { makeIntentDue } from '../../fiat/settlement/intent-queue.js'
import type { Services } from '../../services.js'
import { reconcileNow } from '../work-queue.js'

/**
 * Receives a webhook of the fiat provider about a payment, what comes back of one, or a payout. Its content is not trusted: it only
 * makes the row due, and the worker asks the provider. False when the signature is wrong. `raw`: the bytes that were signed.
 */
export async function receiveWebhook(
  services: Pick<Services, 'db' | 'collections' | 'wake'>,
  raw: Uint8Array,
  header: (name: string) => string,
): Promise<boolean> {
  const reference = services.collections.readWebhook(raw, header)
  if (reference === undefined) return false
  if (reference === null) return true
  // References are random: no payment has the one of a payout.
  if (await reconcileNow(services, reference)) return true
  await makeIntentDue(services, reference)
  await makeRefundsDue(services, reference)
  await makeReturnsDue(services, reference)
  return true
}
