import type { Services } from '../services.js'
import { wakeIntent } from './due.js'

/**
 * Takes a webhook of the fiat provider: it only says which intent to ask about, and nothing in it is believed. False
 * when it is not signed with our key. `raw`: the very bytes that were signed.
 */
export async function takeFiatWebhook(
  { db, fiat, wake }: Pick<Services, 'db' | 'fiat' | 'wake'>,
  raw: Uint8Array,
  header: (name: string) => string,
): Promise<boolean> {
  const reference = fiat.readWebhook(raw, header)
  if (reference === undefined) return false
  if (reference !== null && (await wakeIntent(db, reference))) wake('settlement')
  return true
}
