import { noReference } from '../intents/own-reference.js'
import { DomainError } from '../kernel/errors.js'
import { openSdkSession } from '../sdk/sessions/session.js'
import type { Services } from '../services.js'
import { findByPageHandle } from './handle.js'

/**
 * Opens a session for a visitor of a creator's page: the same rows, intents and events as of one that a creator's backend opens, at
 * this service's own origin. Throws `page_not_found`.
 */
export async function openPageSession(
  { db, config }: Pick<Services, 'db' | 'config'>,
  handle: string,
): Promise<{ sessionToken: string }> {
  const owner = await findByPageHandle(db, handle)
  if (owner === undefined) throw new DomainError('page_not_found')
  const { origin } = new URL(config.http.publicUrl)
  const opened = { userId: owner.userId, origin, theme: 'light' as const, own: noReference }
  const { sessionToken } = await openSdkSession(db, config.sdk, opened)
  return { sessionToken }
}
