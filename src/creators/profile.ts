import type { Account } from '../accounts/account.js'
import { maskAddress } from '../kernel/text.js'
import { query } from '../platform/database/database.js'
import type { Services } from '../services.js'
import { lockCreator } from './find-creator.js'
import { linkDomain, unlinkDomain, verifyDomain } from './link-domain.js'
import type { CreatorProfile, ProfileChange } from './schemas.js'
import { creatorSettings, mergeSettings } from './settings.js'

interface ProfileRow {
  readonly id: string
  readonly name: string
  readonly walletPublicKey: string | null
  readonly solDomain: string | null
  readonly twitterHandle: string | null
  readonly discordHandle: string | null
  readonly settings: unknown
}

/** Reads a creator's own profile. */
export async function readProfile(
  { db }: Pick<Services, 'db'>,
  userId: string,
): Promise<{ creator: CreatorProfile }> {
  const [row] = await query<ProfileRow>(db, {
    name: 'creators.profile',
    text: `select u.id, u.name, w.public_key as "walletPublicKey", u.sol_domain as "solDomain",
             u.twitter_handle as "twitterHandle", u.discord_handle as "discordHandle", u.settings
           from users u left join wallets w on w.user_id = u.id where u.id = $1`,
    values: [userId],
  })
  if (row === undefined) throw new Error('The user of this session does not exist')
  const { settings, walletPublicKey } = row
  const walletAddress = walletPublicKey === null ? null : maskAddress(walletPublicKey)
  const tokensChosen = ['acceptedTokens', 'autoConvertUsdc'].some((key) =>
    Object.hasOwn(Object(settings), key),
  )
  return { creator: { ...row, walletAddress, settings: creatorSettings.parse(settings), tokensChosen } }
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
    const users = () => trx('users').where({ id: account.id })
    if (name !== undefined) await users().update({ name })
    if (verified === null) await unlinkDomain(trx, account.id)
    else if (verified !== undefined) await linkDomain(trx, account.id, verified)
    if (settings === undefined) return
    const stored = await users().first('settings')
    await users().update({ settings: JSON.stringify(mergeSettings(stored.settings, settings)) })
  })
}
