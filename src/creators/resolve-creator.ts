import { walletChannel } from '../accounts/wallets/channel.js'
import { isAddress } from '../kernel/base58.js'
import { DomainError } from '../kernel/errors.js'
import { userIdFrom } from '../kernel/ids.js'
import { isSolDomain, solDomainFrom } from '../kernel/sol-domain.js'
import { waitForRow } from '../platform/database/wait-for-row.js'
import type { Services } from '../services.js'
import { type Creator, readByDomain, readByHandle, readByUserId, readByWallet } from './find-creator.js'
import { handleForms } from './handles.js'
import { defaultSettings } from './settings.js'

export type PayableCreator = Creator & { readonly wallet: string }

/**
 * Finds the creator a caller means. In this order: user id (UUID, with or without `auth_`), wallet, `.sol` domain,
 * handle. A wallet or the payee of a domain is payable also when it belongs to no account. Throws
 * `creator_not_found`, also when it cannot be told who is meant.
 */
export async function resolveCreator(
  services: Pick<Services, 'db' | 'names'>,
  creatorId: string,
): Promise<Creator> {
  const userId = userIdFrom(creatorId)
  const name = creatorId.trim()
  if (userId !== undefined) return found(await readByUserId(services.db, userId))
  if (isAddress(creatorId)) return ofWallet(services, creatorId)
  if (isSolDomain(name)) return ofDomain(services, solDomainFrom(name))
  const handle = handleForms(name)
  if (handle.twitter === undefined && handle.discord === undefined) throw new DomainError('creator_not_found')
  return found(await readByHandle(services.db, handle))
}

/**
 * A linked domain means the creator that linked it, as long as the chain names the same owner as then; otherwise
 * it means whom the chain pays. After a sale the money so follows the domain at once.
 */
async function ofDomain(
  { db, names }: Pick<Services, 'db' | 'names'>,
  domain: string | undefined,
): Promise<Creator> {
  if (domain === undefined) throw new DomainError('creator_not_found')
  const [linked, record] = await Promise.all([readByDomain(db, domain), names.lookup(domain)])
  if (linked !== undefined && linked.domainOwner === record?.owner) return linked
  if (record?.payee === undefined) throw new DomainError('creator_not_found')
  return ofWallet({ db }, record.payee)
}

async function ofWallet({ db }: Pick<Services, 'db'>, wallet: string): Promise<Creator> {
  return (await readByWallet(db, wallet)) ?? { userId: undefined, wallet, settings: defaultSettings }
}

function found(creator: Creator | undefined): Creator {
  if (creator === undefined) throw new DomainError('creator_not_found')
  return creator
}

/**
 * The creator with a wallet to pay to. One that is still being provisioned is waited for, bounded; then
 * `creator_wallet_pending`.
 */
export async function payableCreator(
  services: Pick<Services, 'db' | 'notifications' | 'config' | 'names'>,
  creatorId: string,
): Promise<PayableCreator> {
  const { userId, wallet, settings } = await resolveCreator(services, creatorId)
  if (wallet !== undefined) return { userId, wallet, settings }
  if (userId === undefined) throw new Error('A creator without an account has a wallet')
  const provisioned = await waitForRow(
    async () => {
      const again = await readByUserId(services.db, userId)
      return again?.wallet === undefined ? undefined : { ...again, wallet: again.wallet }
    },
    {
      notifications: services.notifications,
      channel: walletChannel(userId),
      totalMs: services.config.tips.walletWaitMs,
    },
  )
  if (provisioned === undefined) throw new DomainError('creator_wallet_pending')
  return provisioned
}

/** Somebody a list is about: an account or a wallet. */
export type Party = { readonly userId: string } | { readonly wallet: string }

/**
 * Whom an address names when nobody outside may be asked: user id, wallet, or a `.sol` domain that is linked or
 * was looked up a moment ago. Undefined for anything else.
 */
export async function findParty(
  { db, names }: Pick<Services, 'db' | 'names'>,
  address: string,
): Promise<Party | undefined> {
  const userId = userIdFrom(address)
  const domain = solDomainFrom(address.trim())
  if (userId !== undefined) return { userId }
  if (isAddress(address)) return { wallet: address }
  if (domain === undefined) return undefined
  const record = names.known(domain)
  const linked = await readByDomain(db, domain)
  if (linked !== undefined && (record === undefined || record.owner === linked.domainOwner))
    return { userId: linked.userId }
  return record?.payee === undefined ? undefined : { wallet: record.payee }
}
