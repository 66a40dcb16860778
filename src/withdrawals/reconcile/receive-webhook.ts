import { wakeIntent } from '../../fiat/settlement/intent-queue.js'
import type { Services } from '../../services.js'
import { askNow } from '../work-queue.js'

/**
 * Takes a webhook of the fiat provider, about a payment or a payout: it only says what to ask about, and nothing in it is
 * believed. False when it is not signed with our key. `raw`: the very bytes that were signed.
 */
export async function takeProviderWebhook(
  services: Pick<Services, 'db' | 'fiat' | 'wake'>,
  raw: Uint8Array,
  header: (name: string) => string,
): Promise<boolean> {
  const reference = services.fiat.readWebhook(raw, header)
  if (reference === undefined) return false
  if (reference === null) return true
  await wakeIntent(services, reference)
  await askNow(services, reference)
  return true
}
