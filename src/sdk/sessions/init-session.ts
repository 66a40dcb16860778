import { resolvePayableCreator } from '../../creators/resolve-creator.js'
import { listSites } from '../../creators/sites.js'
import { ownReferenceOf } from '../../intents/own-reference.js'
import { DomainError } from '../../kernel/errors.js'
import { maskAddress } from '../../kernel/text.js'
import type { Services } from '../../services.js'
import type { InitAnswer, InitInput } from '../schemas.js'
import { permittedOrigin } from './check-origin.js'
import { meansCreator } from './match-creator.js'
import { openSdkSession, type SdkSession } from './session.js'

type Needs = Pick<Services, 'db' | 'notifications' | 'config' | 'names' | 'chain'>

/**
 * Opens a session for the owner of the API key (API: POST /sdk/init). Throws, in this order: `creator_not_found` when
 * `creatorId` does not mean the owner, `unauthorized_origin`, and `creator_wallet_pending` after a limited wait.
 */
export async function initSession(
  services: Needs,
  ownerId: string,
  { creatorId, originUrl, theme, ...given }: InitInput,
): Promise<InitAnswer> {
  const { db } = services
  if (!(await meansCreator(services, creatorId, ownerId))) throw new DomainError('creator_not_found')
  const origin = permittedOrigin(originUrl, await listSites(db, ownerId))
  if (origin === undefined) throw new DomainError('unauthorized_origin')
  const { wallet, settings } = await resolvePayableCreator(services, ownerId)
  const { sessionToken, embedUrl } = await openEmbed(services, {
    userId: ownerId,
    origin,
    theme,
    own: ownReferenceOf(given),
  })
  return {
    sessionToken,
    config: {
      creatorId: ownerId,
      creatorAddress: maskAddress(wallet),
      acceptedTokens: settings.acceptedTokens,
      embedUrl,
    },
  }
}

/**
 * Opens another session for the creator and site of one that ended with its tip, for a checkout that is in no page of the
 * creator's or whose page opens none (API: POST /sdk/session/renew). A session without a confirmed tip is not renewed: one
 * token must not live longer than its minutes. Throws `session_unpaid`, and `unauthorized_origin` when the site is no longer
 * the creator's.
 */
export async function renewSession(services: Pick<Services, 'db' | 'config'>, session: SdkSession) {
  const { userId, theme, consumed } = session
  if (!consumed) throw new DomainError('session_unpaid')
  const origin = permittedOrigin(session.origin, await listSites(services.db, userId))
  if (origin === undefined) throw new DomainError('unauthorized_origin')
  return openEmbed(services, { userId, origin, theme, own: session.own })
}

async function openEmbed(
  { db, config }: Pick<Services, 'db' | 'config'>,
  opened: Pick<SdkSession, 'userId' | 'origin' | 'theme' | 'own'>,
): Promise<{ sessionToken: string; embedUrl: string }> {
  const { sessionToken, embedId } = await openSdkSession(db, config.sdk, opened)
  // The token is in the fragment. Browsers do not send it, so it reaches no server's log.
  const embedUrl = `${config.http.publicUrl}/embed/${embedId}?theme=${opened.theme}#${sessionToken}`
  return { sessionToken, embedUrl }
}
