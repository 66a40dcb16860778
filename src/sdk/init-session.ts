import { payableCreator } from '../creators/resolve-creator.js'
import { readDomains } from '../creators/sites.js'
import { DomainError } from '../kernel/errors.js'
import { maskAddress } from '../kernel/text.js'
import type { Services } from '../services.js'
import { permittedOrigin } from './check-origin.js'
import { isCreator } from './match-creator.js'
import type { InitAnswer, InitInput } from './schemas.js'
import { openSdkSession } from './session.js'

type Needs = Pick<Services, 'db' | 'notifications' | 'config' | 'names'>

/**
 * Opens a session for the owner of the API key (contract: POST /sdk/init). Refusals in this order: another creator
 * than the owner `creator_not_found`, `unauthorized_origin`, and `creator_wallet_pending` after a bounded wait.
 */
export async function initSession(
  services: Needs,
  ownerId: string,
  { creatorId, originUrl, theme }: InitInput,
): Promise<InitAnswer> {
  const { db, config } = services
  if (!(await isCreator(services, creatorId, ownerId))) throw new DomainError('creator_not_found')
  const origin = permittedOrigin(originUrl, await readDomains(db, ownerId))
  if (origin === undefined) throw new DomainError('unauthorized_origin')
  const { wallet, settings } = await payableCreator(services, ownerId)
  const { sessionToken, embedId } = await openSdkSession(db, config.sdk, { userId: ownerId, origin, theme })
  return {
    sessionToken,
    config: {
      creatorId: ownerId,
      creatorAddress: maskAddress(wallet),
      acceptedTokens: settings.acceptedTokens,
      // Behind the hash, which browsers keep to themselves: the token reaches no server's log.
      embedUrl: `${config.http.publicUrl}/embed/${embedId}?theme=${theme}#${sessionToken}`,
    },
  }
}
