import type { Account } from '../accounts/account.js'
import { changeUser } from '../accounts/change-user.js'
import { User } from '../accounts/models.js'
import { maskAddress } from '../kernel/text.js'
import type { Services } from '../services.js'
import { lockCreator } from './find-creator.js'
import { linkDomain, unlinkDomain, verifyDomain } from './link-domain.js'
import type { CreatorProfile, ProfileChange } from './schemas.js'
import { creatorSettings, mergeSettings } from './settings.js'

/** Reads a creator's own profile. */
export async function readProfile(
  { db }: Pick<Services, 'db'>,
  userId: string,
): Promise<{ creator: CreatorProfile }> {
  const user = await User.withWallet(db).findById(userId).throwIfNotFound()
  const { id, name, walletPublicKey, solDomain, twitterHandle, discordHandle, settings } = user
  const walletAddress = walletPublicKey === null ? null : maskAddress(walletPublicKey)
  const tokensChosen = ['acceptedTokens', 'autoConvertUsdc'].some((key) => Object.hasOwn(settings, key))
  return {
    creator: {
      id,
      name,
      walletAddress,
      walletPublicKey,
      solDomain,
      twitterHandle,
      discordHandle,
      settings: creatorSettings.parse(settings),
      tokensChosen,
    },
  }
}

/**
 * Changes the given parts of a profile in one transaction. Settings are merged key by key. Throws `domain_not_yours`
 * and `invalid_settings`.
 */
export async function changeProfile(
  services: Pick<Services, 'db' | 'names' | 'transact'>,
  account: Pick<Account, 'id' | 'walletPublicKey'>,
  { name, solDomain, signature, settings }: ProfileChange,
): Promise<void> {
  const verified = solDomain == null ? solDomain : await verifyDomain(services, account, solDomain, signature)
  await services.transact(async ({ trx }) => {
    await lockCreator(trx, account.id)
    if (name !== undefined) await changeUser(trx, account.id, { name })
    if (verified === null) await unlinkDomain(trx, account.id)
    else if (verified !== undefined) await linkDomain(trx, account.id, verified)
    if (settings === undefined) return
    const stored = await User.query(trx).findById(account.id).throwIfNotFound()
    await changeUser(trx, account.id, { settings: mergeSettings(stored.settings, settings) })
  })
}
