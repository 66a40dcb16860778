import { makeIntentDue } from '../../fiat/settlement/intent-queue.js'
import type { Services } from '../../services.js'
import { reconcileNow } from '../work-queue.js'

/**
 * Takes a webhook of the fiat provider, about a payment or a payout: it only says what to ask about, and nothing in it is
 * believed. False when it is not signed with our key. `raw`: the very bytes that were signed.
 */
export async function receiveWebhook(
  services: Pick<Services, 'db' | 'collections' | 'wake'>,
  raw: Uint8Array,
  header: (name: string) => string,
): Promise<boolean> {
  const reference = services.collections.readWebhook(raw, header)
  if (reference === undefined) return false
  if (reference === null) return true
  await makeIntentDue(services, reference)
  await reconcileNow(services, reference)
  return true
}
