import { takeFiatWebhook } from '../fiat/webhook.js'
import { query } from '../platform/db.js'
import type { Services } from '../services.js'

/**
 * Takes a webhook of the fiat provider, about a payment or a payout: it only says what to ask about, and nothing in it is
 * believed. False when it is not signed with our key. `raw`: the very bytes that were signed.
 */
export async function takeProviderWebhook(
  services: Pick<Services, 'db' | 'fiat' | 'wake'>,
  raw: Uint8Array,
  header: (name: string) => string,
): Promise<boolean> {
  if (!(await takeFiatWebhook(services, raw, header))) return false
  const reference = services.fiat.readWebhook(raw, header)
  if (typeof reference === 'string' && (await wakePayout(services, reference))) services.wake('reconciler')
  return true
}

/** A payout that is just being sent is left alone, and one just asked about is asked again soon. */
async function wakePayout({ db }: Pick<Services, 'db'>, reference: string): Promise<boolean> {
  const rows = await query(db, {
    name: 'payouts.wake',
    text: /* sql */ `
      update withdrawals set due_at = clock_timestamp()
      where provider_reference = $1 and send_state in ('unknown', 'sent', 'manual_review', 'refused')
      returning id`,
    values: [reference],
  })
  return rows.length > 0
}
