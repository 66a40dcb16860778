import { resolvePayableCreator } from '../creators/resolve-creator.js'
import { listSites } from '../creators/sites.js'
import { DomainError } from '../kernel/errors.js'
import { maskAddress } from '../kernel/text.js'
import type { Services } from '../services.js'
import { permittedOrigin } from './check-origin.js'
import { meansCreator } from './match-creator.js'
import type { InitAnswer, InitInput } from './schemas.js'
import { openSdkSession } from './session.js'

type Needs = Pick<Services, 'db' | 'notifications' | 'config' | 'names' | 'chain'>

/**
 * Opens a session for the owner of the API key (API: POST /sdk/init). Throws, in this order: `creator_not_found` when
 * `creatorId` does not mean the owner, `unauthorized_origin`, and `creator_wallet_pending` after a limited wait.
 */
export async function initSession(
  services: Needs,
  ownerId: string,
  { creatorId, originUrl, theme }: InitInput,
): Promise<InitAnswer> {
  const { db, config } = services
  if (!(await meansCreator(services, creatorId, ownerId))) throw new DomainError('creator_not_found')
  const origin = permittedOrigin(originUrl, await listSites(db, ownerId))
  if (origin === undefined) throw new DomainError('unauthorized_origin')
  const { wallet, settings } = await resolvePayableCreator(services, ownerId)
  const { sessionToken, embedId } = await openSdkSession(db, config.sdk, { userId: ownerId, origin, theme })
  return {
    sessionToken,
    config: {
      creatorId: ownerId,
      creatorAddress: maskAddress(wallet),
      acceptedTokens: settings.acceptedTokens,
      // The token is in the fragment. Browsers do not send it, so it reaches no server's log.
      embedUrl: `${config.http.publicUrl}/embed/${embedId}?theme=${theme}#${sessionToken}`,
    },
  }
}
