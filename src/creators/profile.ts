import type { Account } from '../accounts/account.js'
import { maskAddress } from '../kernel/text.js'
import { query } from '../platform/database/database.js'
import type { Services } from '../services.js'
import { linkDomain, proveDomain, unlinkDomain } from './link-domain.js'
import { lockCreator } from './lock-creator.js'
import type { CreatorProfile, ProfileChange } from './schemas.js'
import { changedSettings, creatorSettings } from './settings.js'

interface ProfileRow {
  readonly id: string
  readonly name: string
  readonly walletPublicKey: string | null
  readonly solDomain: string | null
  readonly twitterHandle: string | null
  readonly discordHandle: string | null
  readonly settings: unknown
}

/** A creator as the creator sees it. */
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
  if (row === undefined) throw new Error('A session outlived its user')
  const { settings, walletPublicKey } = row
  const walletAddress = walletPublicKey === null ? null : maskAddress(walletPublicKey)
  return { creator: { ...row, walletAddress, settings: creatorSettings.parse(settings) } }
}

/**
 * Changes what is given of a profile, all of it or nothing; settings are merged key by key. Throws
 * `domain_not_yours` and `invalid_settings`.
 */
export async function changeProfile(
  services: Pick<Services, 'db' | 'names' | 'transact'>,
  account: Pick<Account, 'id' | 'walletPublicKey'>,
  { name, solDomain, signature, settings }: ProfileChange,
): Promise<void> {
  const proven = solDomain == null ? solDomain : await proveDomain(services, account, solDomain, signature)
  await services.transact(async ({ trx }) => {
    await lockCreator(trx, account.id)
    const users = () => trx('users').where({ id: account.id })
    if (name !== undefined) await users().update({ name })
    if (proven === null) await unlinkDomain(trx, account.id)
    else if (proven !== undefined) await linkDomain(trx, account.id, proven)
    if (settings === undefined) return
    const stored = await users().first('settings')
    await users().update({ settings: JSON.stringify(changedSettings(stored.settings, settings)) })
  })
}
